"""Hooks of MkDocs: pages that are not in docs/, and links that lead out of it.

The documents are also read in the repository, so their links are paths of files. On the site, a
link to a document outside docs/ leads to its page, a link to a source file to a page with its text.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

import api_names  # noqa: E402
import api_pages  # noqa: E402

PAGES_OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)#:\s]+)(#[^)\s]*)?(\))")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {".h": "cpp", ".cc": "cpp", ".mm": "objective-c", ".fbs": "text", ".sh": "bash"}


def api_page(module: str) -> str:
    """Return the page of a module for mkdocstrings."""
    lines = [
        f"::: {module}",
        "    options:",
        "      members: false",
        "      heading_level: 1",
        "      show_root_full_path: true",
    ]
    for name in sorted(api_pages.entries()[module], key=str.lower):
        lines += ["", f"::: {module}.{name}"]
    return "\n".join(lines) + "\n"


def path_in_site(path: str) -> str:
    """Return where the site has a file of the repository."""
    if path == "README.md":
        return "index.md"
    if path in PAGES_OUTSIDE:
        return PAGES_OUTSIDE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}" if path.endswith((".svg", ".png", ".md")) else f"source/{path}.md"


def linked(path: str, text: str) -> list[str]:
    """Return the files outside docs/ to which a document of the repository links."""
    found = []
    for match in LINK.finditer(FENCED.sub("", text)):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))
        if not target.startswith("docs/") and target != "docs" and (ROOT / target).exists():
            found.append(target)
    return found


def source_page(path: str) -> str:
    """Return a page with the text of a source file, or the list of files of a folder."""
    head = "---\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n"
    file = ROOT / path
    if file.is_dir():
        names = sorted(each.name + "/" * each.is_dir() for each in file.iterdir())
        rows = [f"* `{name}`" for name in names if not name.startswith(("__pycache__", "."))]
        return f"{head}# {path}\n\n" + "\n".join(rows) + "\n"
    language = LANGUAGES.get(file.suffix, "python" if file.suffix == ".py" else "text")
    text = file.read_text(encoding="utf-8").rstrip("\n")
    return f'{head}# {path}\n\n~~~~{language} linenums="1"\n{text}\n~~~~\n'


def on_config(config: Any) -> Any:
    """Complete the navigation by the pages of modules."""
    pages = [{"Modules": "api/README.md"}, *({m: f"api/{m}.md"} for m in api_names.MODULES)]
    config["nav"].append({"API reference": pages})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of modules, of documents outside docs/, and of linked source files."""
    for module in api_names.MODULES:
        files.append(File.generated(config, f"api/{module}.md", content=api_page(module)))
    texts = {
        f"docs/{each.src_uri}": each.content_string
        for each in files.documentation_pages()
        if each.generated_by is None
    }
    for path, name in PAGES_OUTSIDE.items():
        texts[path] = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=texts[path]))
    waiting = sorted({target for path, text in texts.items() for target in linked(path, text)})
    done = {"README.md", *PAGES_OUTSIDE}
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        if path.endswith((".svg", ".png")):
            content: Any = (ROOT / path).read_bytes()
        elif path.endswith(".md"):
            content = (ROOT / path).read_text(encoding="utf-8")
            waiting += linked(path, content)
        else:
            content = source_page(path)
        files.append(File.generated(config, path_in_site(path), content=content))
    return files


def path_in_repository(page: str) -> str:
    """Return the file of the repository that a page shows."""
    outside = {name: path for path, name in PAGES_OUTSIDE.items()}
    if page in outside:
        return outside[page]
    return page.removeprefix("source/") if page.startswith("source/") else f"docs/{page}"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links that lead out of docs/ lead to pages of the site."""
    here = page.file.src_uri
    path = path_in_repository(here)
    if not (ROOT / path).exists():
        return markdown  # of a module or of a source file: it has no links of the repository

    def place(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))
        module = _module_of(target) if here == "api/README.md" else None
        if module is not None:
            return f"{match[1]}{module}.md{match[4]}"
        if not (ROOT / target).exists():
            return match[0]
        there = posixpath.relpath(path_in_site(target), posixpath.dirname(here) or ".")
        return f"{match[1]}{there}{match[3] or ''}{match[4]}"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(each if each.startswith("```") else LINK.sub(place, each) for each in parts)


def _module_of(path: str) -> str | None:
    """Return the public module that a source file of the package defines."""
    if not path.startswith("python/"):
        return None
    name = path.removeprefix("python/").removesuffix(".py").removesuffix("/__init__")
    name = name.replace("/", ".")
    return name if name in api_names.MODULES else None
