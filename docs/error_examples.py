"""Examples of diagnostics for errors.md: the cases of tests/fuzz, as scripts of their own.

A case is a function over others that all cases share. Here those are put into their callers, so
that an example can be pasted into a file; it is run, and what is shown is what it has printed.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path

import texloom

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/fuzz/bad_inputs"))

import bad_input  # noqa: E402
import bad_input_cases  # noqa: E402

WIDTH = 100
FILE = "example.py"

# What differs from machine to machine.
MASKS = (
    (re.compile(r"/\S+/tests/fuzz/[\w/]+\.py:\d+"), "example.py:..."),
    (
        re.compile(r"of device .* for one allocation, [\d.]+ \w+"),
        "of device ... for one allocation, ...",
    ),
    (re.compile(r"use a number from 0 to \d+"), "use a number from 0 to ..."),
    (re.compile(r"and the device \(\d+ x \d+\)"), "and the device (... x ...)"),
)

IMPORTS = {
    "np": "import numpy as np",
    "tvm": "import texloom as tvm",
    "te": "from texloom import te",
    "custom": "from texloom import custom",
    "Graph": "from texloom.graph import Graph",
}


@dataclass(frozen=True)
class Example:
    """A user's input, its language, and the answer of Texloom."""

    source: str
    language: str
    output: str


# -- Shared functions, put into their callers.


class _Substitute(ast.NodeTransformer):
    """Replaces names by expressions, and leaves out what then says nothing."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.values[node.id]) if node.id in self.values else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        # Defaults of the functions that are called.
        nothing = [k for k in node.keywords if isinstance(k.value, ast.Constant)]
        node.keywords = [k for k in node.keywords if k not in nothing or k.value.value]
        return node


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    names = [a.arg for a in function.args.args]
    defaults = function.args.defaults
    values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    values.update(zip(names, call.args, strict=False))
    values.update({k.arg: k.value for k in call.keywords if k.arg})
    return values


def _parsed(function: object) -> ast.FunctionDef:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    if isinstance(definition.body[0], ast.Expr) and isinstance(
        definition.body[0].value, ast.Constant
    ):
        definition.body.pop(0)
    return definition


def _shared(call: ast.AST) -> ast.FunctionDef | None:
    """The shared function that is called, if it is one."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    function = getattr(bad_input, call.func.id, None)
    return _parsed(function) if inspect.isfunction(function) else None


class _Inline(ast.NodeTransformer):
    """Puts shared functions that are one expression into the expressions that call them."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = _shared(node)
        if function is None or len(function.body) != 1:
            return node
        (result,) = function.body
        assert isinstance(result, ast.Return)
        return self.visit(_Substitute(_arguments(function, node)).visit(result.value))


def _assign(target: ast.expr, value: ast.expr) -> list[ast.stmt]:
    """`target = value`, unless that says nothing."""
    same = isinstance(target, ast.Name) and isinstance(value, ast.Name) and target.id == value.id
    unused = isinstance(target, ast.Name) and target.id == "_"
    return [] if same or unused else [ast.Assign([target], value)]


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body with the shared functions of several statements in place of their calls."""
    result: list[ast.stmt] = []
    for statement in body:
        statement = _Inline().visit(copy.deepcopy(statement))
        function = _shared(statement.value) if isinstance(statement, ast.Assign) else None
        if function is None:
            result.append(statement)
            continue
        values = _arguments(function, statement.value)
        for inner in _statements(function.body):
            inner = _Substitute(values).visit(inner)
            if isinstance(inner, ast.Return):
                result += _returned(statement.targets[0], inner.value)
            elif isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Constant):
                values[inner.targets[0].id] = inner.value
            else:
                result.append(inner)
    return result


def _returned(target: ast.expr, value: ast.expr) -> list[ast.stmt]:
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return _assign(target, value)
    pairs = zip(target.elts, value.elts, strict=True)
    return [s for one, other in pairs for s in _assign(one, other)]


def _script(case: bad_input.Case) -> str:
    module = ast.Module(_statements(_parsed(case.run).body), [])
    body = ast.unparse(ast.fix_missing_locations(module))
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    imports = [line for name, line in IMPORTS.items() if name in used]
    return "\n".join([*imports, "", body]) + "\n"


def _formatted(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--line-length", str(WIDTH), "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


# -- What it prints.


def _printed(source: str) -> str:
    """Run a script as a user's own file, in this process, and return its output."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        linecache.clearcache()  # every example has the same file name
        os.chdir(folder)
        try:
            Path(FILE).write_text(source, encoding="utf-8")
            exec(compile(source, FILE, "exec"), {"__name__": "__main__"})
        except texloom.TVMError as error:
            return str(error)
        finally:
            os.chdir(before)
    shown = [warnings.formatwarning(w.message, w.category, w.filename, w.lineno) for w in caught]
    return "".join(shown).rstrip("\n")


def _printed_elsewhere(source: str, environment: dict[str, str]) -> str:
    """The same in a process with this environment."""
    with tempfile.TemporaryDirectory() as folder:
        added = {name: value.replace("<empty>", folder) for name, value in environment.items()}
        code = "import sys, error_examples as e; sys.stdout.write(e._printed(sys.stdin.read()))"
        paths = [str(ROOT / "docs"), str(ROOT / "python"), *sys.path]
        return subprocess.run(
            [sys.executable, "-c", code],
            input=source,
            env={**os.environ, **added, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout


def _masked(text: str) -> str:
    for pattern, shown in MASKS:
        text = pattern.sub(shown, text)
    return text


def _example(case: bad_input.Case) -> Example:
    if case.program:
        shown = re.sub(r" *// wrong", "", case.program)
        try:
            texloom.parse(shown, "main.tl")
        except texloom.TVMError as error:
            return Example(shown, "tl", str(error))
    source = _formatted(_script(case))
    output = _printed_elsewhere(source, case.environment) if case.environment else _printed(source)
    return Example(source, "py", _masked(output))


def _from_lit(code: str) -> Example | None:
    """A program of tests/lit that a pass or the interpreter refuses; lit holds what it says."""
    for file in sorted((ROOT / "tests/lit").rglob("*.tl")):
        text = file.read_text(encoding="utf-8")
        for part in re.split(r"^// -----.*\n", text, flags=re.MULTILINE):
            said = re.search(rf" *// expected-(?:error|warning) {{{{({code}.*?)}}}}", part)
            if said:
                program = part[part.index("program ") :].replace(said[0], f"  // {said[1]}")
                return Example(program.rstrip() + "\n", "tl", "")
    return None


def _stands_alone(case: bad_input.Case) -> bool:
    """Whether its script calls no function of the case's file, which a reader would not see."""
    if case.program:
        return True
    nodes = ast.walk(ast.parse(_script(case)))
    called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    file = sys.modules[case.run.__module__]
    return not any(inspect.isfunction(getattr(file, name, None)) for name in called)


def of_code(code: str) -> Example | None:
    """The shortest example of a code; None where nothing here brings it about."""
    cases = [c for c in bad_input_cases.CASES if c.code == code and _stands_alone(c)]
    if not cases:
        return _from_lit(code)
    lengths = {case.name: len(case.program or _script(case)) for case in cases}
    shortest = min(cases, key=lambda case: (bool(case.environment), lengths[case.name]))
    example = _example(shortest)
    assert f"[{code}]" in example.output, f"{shortest.name} prints\n{example.output}"
    return example


def ways_out(code: str) -> list[tuple[str, str]]:
    """The messages and helps of a code: one message for each help of its cases."""
    found: dict[str, str] = {}
    for case in bad_input_cases.CASES:
        if case.code == code:
            (diagnostic,) = case.diagnostics()
            found.setdefault(_masked(diagnostic["help"]), _masked(diagnostic["message"]))
    return [(message, way) for way, message in found.items()]


def why_no_script(code: str) -> str | None:
    """Why no Python script brings it about; None where one does."""
    return bad_input_cases.UNREACHABLE.get(code)
