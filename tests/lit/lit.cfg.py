"""Configure lit for the tests of texloom-compile and texloom-opt on programs in the text form.

After ./dev build: .venv/bin/lit -sv tests/lit [--param build=FOLDER]
"""

import sys
from pathlib import Path

import lit.formats

# lit defines `config` and `lit_config`.
ROOT = Path(__file__).resolve().parents[2]
build = Path(lit_config.params.get("build", ROOT / "build")).resolve()

config.name = "texloom"
config.suffixes = [".tl"]
config.excludes = ["Inputs"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(ROOT / "tests/lit")
config.test_exec_root = str(build / "lit")
config.substitutions += [
    (r"\btexloom-opt\b", str(build / "apps/texloom-opt")),
    (r"\btexloom-compile\b(?!:)", str(build / "apps/texloom-compile")),
    # PyPI's filecheck. A CHECK line matches a whole line, except for its indentation.
    (r"\bFileCheck\b", f"{sys.executable} -m filecheck --match-full-lines"),
]
