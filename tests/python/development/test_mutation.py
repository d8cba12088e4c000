"""Mutants must change behavior, and only code."""

import random

import mutation
import pytest


def changes(text):
    """Return `text`'s mutants as {operator: [changed line, …]}."""
    found = {}
    for line in mutation.mutations("src/x.cc", text):
        for change in line:
            found.setdefault(change.operator, []).append(change.after.strip())
    return found


def body(line):
    """Return a function that contains one line."""
    return f"int f(int a, int b) {{\n  {line}\n}}\n"


@pytest.mark.parametrize(
    ("line", "operator", "expected"),
    [
        ("x = a < b;", "relation", ["x = a <= b;", "x = a >= b;"]),
        ("x = a - b;", "arithmetic", ["x = a + b;"]),
        ("x = a && b;", "logic", ["x = a || b;"]),
        ("x = a + 7;", "constant", ["x = a + 8;", "x = a + 6;"]),
        ("bool x = true;", "truth", ["bool x = false;"]),
        ("if (a == b) g();", "negated condition", ["if (!(a == b)) g();"]),
        ("if (int c = a; c == b) g();", "negated condition", ["if (int c = a; !(c == b)) g();"]),
        ("nodes.push_back(a);", "removed statement", [";"]),
        ("total += a;", "removed statement", [";"]),
        ("g(a, h(b, 1));", "swapped arguments", ["g(h(b, 1), a);"]),
        ("x = std::max(a, b);", "min/max", ["x = std::min(a, b);"]),
        ("return a;", "changed return", ["return {};"]),
        ("return a == b;", "changed return", ["return !(a == b);"]),
    ],
)
def test_operator_makes_the_change(line, operator, expected):
    assert changes(body(line))[operator] == expected


@pytest.mark.parametrize(
    "line",
    [
        "// a < b",
        "/* a < b */",
        'g("a < b, 7");',
        "#include <a/b.h>",
        "TL_CHECK(a < b);",
        'fail(where, Code::Bad, "help 1", "{} < 2", a + b);',
        "std::vector<int> x;",
        "names.reserve(a + 1);",
    ],
)
def test_text_and_checks_are_left_alone(line):
    found = changes(body(line))
    found.pop("removed statement", None)  # the call g(…)
    assert found == {}


def test_declarations_are_left_alone():
    text = "constexpr int kLimit = 7;\nenum class E { A = 1 };\nstruct S {\n  int x = 1;\n};\n"
    assert changes(text) == {}


def test_methods_inside_a_class_are_code():
    assert changes("class C {\n  bool empty() const { return n_ == 0; }\n};\n")["relation"]


def test_strings_survive_a_swap_of_arguments():
    assert changes(body('g("one", "two");'))["swapped arguments"] == ['g("two", "one");']


def test_apply_changes_that_line_alone():
    text = body("x = a < b;")
    (found,) = mutation.mutations("src/x.cc", text)
    changed = found[0].apply(text).split("\n")
    differing = [
        i for i, (a, b) in enumerate(zip(text.split("\n"), changed, strict=True)) if a != b
    ]
    assert differing == [1]


def test_draw_depends_on_the_seed_alone(tmp_path):
    (tmp_path / "src").mkdir()
    lines = "".join(f"  x{i} = a + {i};\n" for i in range(40))
    (tmp_path / "src" / "x.cc").write_text(f"void f() {{\n{lines}}}\n")
    first = mutation.draw(tmp_path, ["src"], 3)
    random.seed(99)
    assert mutation.draw(tmp_path, ["src"], 3) == first
    assert mutation.draw(tmp_path, ["src"], 4) != first
    assert mutation.draw(tmp_path, ["src/other"], 3) == []
