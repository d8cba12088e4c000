"""Sequences and optional values, which exist only as lists in the importer."""

import numpy as np
import onnx
import pytest
from single_node import floats

from texloom.onnx import Unsupported, backend

A, B = floats(2, 3), floats(4, 3)


def run(text, *inputs):
    """Run a model written in ONNX's text form."""
    header = '<ir_version: 8, opset_import: ["" : 17]> '
    results = backend.run_model(onnx.parser.parse_model(header + text), list(inputs))
    return results[0] if len(results) == 1 else results


def same(got, expected):
    assert isinstance(got, list) and len(got) == len(expected)
    for each, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(each, other)


@pytest.mark.parametrize(
    ("position", "expected"), [("", [A, B, 2 * A]), ("0", [2 * A, A, B]), ("-1", [A, 2 * A, B])]
)
def test_insertion(position, expected):
    """A negative position counts from the end of the sequence before the insertion."""
    given = f"p = Constant <value_int: int = {position}> ()" if position else ""
    got = run(
        f"""agraph (float[2, 3] a, float[4, 3] b) => (seq(float[n, 3]) y) {{
            {given}
            s = SequenceConstruct (a, b)
            double = Add (a, a)
            y = SequenceInsert (s, double{", p" if position else ""})
        }}""",
        A,
        B,
    )
    same(got, expected)


def test_positions_may_be_inputs():
    """The model is compiled for each value of the position."""
    text = """agraph (seq(float[n, 3]) s, int64 p) => (seq(float[n, 3]) rest, float[n, 3] at) {
        rest = SequenceErase (s, p)
        at = SequenceAt (s, p)
    }"""
    for position, rest in ((0, [B]), (-1, [A])):
        got, at = run(text, [A, B], np.array(position))
        same(got, rest)
        np.testing.assert_array_equal(at, [A, B][position])
    with pytest.raises(Unsupported, match="the position 2 is not in a sequence of length 2"):
        run(text, [A, B], np.array(2))


def test_joined_sequence_of_any_length():
    text = """agraph (seq(float[n, 3]) s) => (float[n, 3] y, int64 length) {
        y = ConcatFromSequence <axis: int = 0> (s)
        length = SequenceLength (s)
    }"""
    for given in ([A], [A, B, A]):
        got, length = run(text, given)
        np.testing.assert_array_equal(got, np.concatenate(given))
        assert length == len(given)


def test_stacked_sequence():
    text = """agraph (float[2, 3] a) => (float[2, 3, 2] y) {
        s = SequenceConstruct (a, a)
        y = ConcatFromSequence <axis: int = -1, new_axis: int = 1> (s)
    }"""
    np.testing.assert_array_equal(run(text, A), np.stack([A, A], -1))


@pytest.mark.parametrize(
    ("split", "expected"), [("value_int: int = 3", [3, 4]), ("value_ints: ints = [0, 4]", [0, 4])]
)
def test_split(split, expected):
    """A scalar `split` is the extent of all parts but the last."""
    text = f"""agraph (float[4, 3] b) => (seq(float[n, 3]) y) {{
        split = Constant <{split}> ()
        y = SplitToSequence <axis: int = 0> (b, split)
    }}"""
    same(run(text, B), np.split(B, expected[:1]))


def test_rows_without_their_axis():
    text = """agraph (float[4, 3] b) => (seq(float[3]) y) {
        y = SplitToSequence <axis: int = 0, keepdims: int = 0> (b)
    }"""
    same(run(text, B), list(B))


def test_map():
    """The body gets one tensor of each sequence at a time, and other inputs unchanged."""
    text = """agraph (seq(float[n, 3]) s, float[3] b) => (seq(float[n, 3]) y) {
        y = SequenceMap <body = each (float[n, 3] x, float[3] c) => (float[n, 3] z) {
            z = Add (x, c)
        }> (s, b)
    }"""
    same(run(text, [A, B], A[0]), [A + A[0], B + A[0]])


def test_optional_values():
    text = """agraph (optional(float[2, 3]) x) => (bool there, optional(float[2, 3]) y) {
        there = OptionalHasElement (x)
        y = Identity (x)
    }"""
    there, got = run(text, None)
    assert not there and got is None
    there, got = run(text, A)
    assert there
    np.testing.assert_array_equal(got, A)


def test_a_sequence_is_no_tensor():
    text = """agraph (float[2, 3] a) => (float[2, 3] y) {
        s = SequenceConstruct (a)
        y = Relu (s)
    }"""
    with pytest.raises(Exception, match="not a tensor|type"):
        run(text, A)
