"""Documents: Python blocks run and print the output shown, links resolve, table cells are short.

In an output `...` matches anything, and line breaks are spaces.
"""

import doctest
import importlib.util
import re
import sys
from pathlib import Path

import pytest
from conftest import has_pocl
from llvm_plugin import has_llvm

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "docs"))

from blocks import programs, run  # noqa: E402

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]

LONGEST_CELL = 200  # characters; longer text goes into a list below the table
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
BAR = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
ANCHOR = re.compile(r"\]\(([^)#:\s]*)#([^)]*)\)")
HOW_TO_GENERATE = "run .venv/bin/python docs/generate.py"
ALIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(path):
    return str(path.relative_to(ROOT))


WITH_CODE = [path for path in DOCUMENTS if programs(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", WITH_CODE, ids=name_of)
def test_python_blocks_run_and_print_what_is_said(path, tmp_path, monkeypatch, request):
    if path.name in ("README.md", "cpu.md", "microkernels.md", "onnx.md") and not has_llvm():
        pytest.skip("the LLVM plug-in is not built")
    if has_llvm():
        request.getfixturevalue("default_target")
    monkeypatch.chdir(tmp_path)
    for said, printed in run(path):
        if said is not None:
            alike = doctest.OutputChecker().check_output(said, printed, ALIKE)
            assert alike, f"{name_of(path)} says\n{said}\nbut it prints\n{printed}"
    for picture in tmp_path.glob("*.svg"):
        kept = ROOT / "docs/images" / picture.name
        assert kept.exists(), f"docs/images has no {picture.name}: {HOW_TO_GENERATE}"
        same = kept.read_text(encoding="utf-8") == picture.read_text(encoding="utf-8")
        assert same, f"{name_of(path)} draws another {picture.name}: {HOW_TO_GENERATE}"


def test_every_drawn_picture_is_of_the_guide():
    pages = [page.read_text(encoding="utf-8") for page in ROOT.glob("docs/guide/*.md")]
    for picture in (ROOT / "docs/images").glob("guide_*.svg"):
        drawn = re.compile(rf'\.save\(\s*"{picture.name}"\s*\)')
        (text,) = [page for page in pages if drawn.search(page)]
        assert f"](../images/{picture.name})" in text


def test_blocks_and_their_output_are_found():
    text = "a\n```python\nprint(1)\n```\n\n```text\n1\n```\n```python\n2\n```\nb\n```text\n3\n```\n"
    assert programs(text) == [["\n\nprint(1)\n", "1\n"], ["\n" * 9 + "2\n", None]]
    assert name_of(ROOT / "README.md") in map(name_of, WITH_CODE)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_to_files(path):
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), (
            f"{name_of(path)} links to {target}, which does not exist"
        )


def long_cells(text):
    """Return the table cells of a Markdown text that are longer than LONGEST_CELL."""
    rows = (line for line in FENCED.sub("", text).splitlines() if line.startswith("|"))
    cells = (cell.strip() for row in rows for cell in BAR.split(row)[1:-1])
    return [cell for cell in cells if len(cell) > LONGEST_CELL]


def anchors(text):
    """Return the anchors, after ``#``, that a link to a Markdown text may have."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", re.sub(r"<[^>]*>", "", each).lower()) for each in headings)
    return {each.replace(" ", "-") for each in words} | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_to_headings(path):
    for file, anchor in ANCHOR.findall(FENCED.sub("", path.read_text(encoding="utf-8"))):
        target = path.parent / file if file else path
        if target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{file}#{anchor}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_table_cells_are_short(path):
    assert long_cells(path.read_text(encoding="utf-8")) == []


def test_long_cells_are_found():
    """An escaped bar, or a bar inside a code block, does not separate cells."""
    half = "x" * (LONGEST_CELL // 2)
    row = rf"| short | {half} \| {half} | {half} | {half} |"
    assert long_cells(f"{row}\n```text\n{row}\n```\n") == [rf"{half} \| {half}"]


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = generator()


# errors.md has every message as users get it, which takes as long as a hundred other tests.
LONG = {"errors.md": pytest.mark.nightly}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=LONG.get(page, ())) for page in GENERATOR.PAGES]
)
def test_generated_pages_are_up_to_date(page):
    if page == "errors.md" and not has_pocl():
        pytest.skip("the page shows what comes of two devices, as which PoCL alone shows one")
    if page == "command_line.md" and not (ROOT / "build/apps/texloom-opt").exists():
        pytest.skip("the page shows what texloom-opt prints, which is not built")
    expected = GENERATOR.PAGES[page]()
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == expected, HOW_TO_GENERATE


def test_the_map_names_every_folder_of_sources():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([\w/]+/)` \|", text, re.MULTILINE)
    assert all((ROOT / folder).is_dir() for folder in named)
    for folder in [*(ROOT / "src").iterdir(), *(ROOT / "python/texloom").iterdir()]:
        if folder.is_dir() and folder.name != "__pycache__":
            place = f"{folder.relative_to(ROOT)}/"
            assert any(f.startswith(place) or place == f for f in named), f"{place} is not named"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_pictures_are_small(path):
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        if target.endswith(".png"):
            assert (path.parent / target).stat().st_size < 200_000


def test_tests_that_the_compatibility_page_names_are_there():
    """A name may end in * or ..., which matches all names with that prefix."""
    page = (ROOT / "docs/te_compatibility.md").read_text(encoding="utf-8")
    files = list((ROOT / "tests/python").rglob("*.py"))
    tests = {name for f in files for name in re.findall(r"def (test_\w+)", f.read_text("utf-8"))}
    tests |= {f.stem for f in files}
    named = re.findall(r"\b(test_\w+)(\*|\.\.\.)?", page)
    assert len(named) > 100
    missing = [
        name
        for name, more in named
        if name not in tests and not (more and any(t.startswith(name) for t in tests))
    ]
    assert missing == []
