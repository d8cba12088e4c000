"""Support vector machines: kernels, votes of pairs of classes, and probabilities of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import shape_of
from ..threads import each_thread

_MOST_STEPS = 100
_TOLERANCE = 0.005
"""The greatest error of a probability is this number, divided by the number of classes."""

_LEAST = 1e-7
"""Probabilities of pairs are not nearer than this to 0 and 1."""


def radial(x: Tensor, vectors: Tensor, gamma: float) -> Tensor:
    """Return ``exp(-gamma * |x - v|²)`` as ``[rows, vectors]``, for ``[rows, features]``.

    `vectors` is ``[vectors, features]``.
    """
    (rows, features), (count, _) = shape_of(x), shape_of(vectors)

    def squares(r: Any, v: Any) -> Any:
        k = te.reduce_axis((0, features), name="k")
        difference = x(r, k.var) - vectors(v, k.var)
        return te.sum(difference * difference, axis=k)

    distance = te.compute((rows, count), squares, name="distance")
    factor = te.const(-gamma, x.dtype)
    return te.compute((rows, count), lambda r, v: te.exp(factor * distance(r, v)), name="radial")


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order of their scores."""
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]


def pair_votes(scores: Tensor, classes: int) -> Tensor:
    """Return how many pairs vote for each class, as ``[rows, classes]`` of int32.

    Parameters
    ----------
    scores : Tensor
        ``[rows, pairs]``: a score above 0 is a vote for the first class of a pair.
    classes : int
    """
    pairs = pairs_of(classes)

    def counted(r: Any, c: Any) -> Any:
        number = te.reduce_axis((0, classes), name="other")
        other = number.var
        low, high = te.min(c, other), te.max(c, other)
        place = low * classes - te.indexdiv(low * (low + 1), 2) + (high - low - 1)
        inside = te.max(te.min(place, len(pairs) - 1), 0)
        wins = scores(r, inside) > te.const(0, scores.dtype)
        is_vote = te.all(c.equal(other).equal(te.const(False, "bool")), wins.equal(c < other))
        return te.sum(is_vote.astype("int32"), axis=number)

    return te.compute((shape_of(scores)[0], classes), counted, name="votes")


def class_probabilities(scores: Tensor, slopes: Tensor, offsets: Tensor, classes: int) -> Tensor:
    """Return probabilities of classes ``[rows, classes]`` from scores of pairs.

    The probability of the first class of a pair is ``1 / (1 + exp(slope * score + offset))``. The
    result minimizes the sum of ``(r_ji p_i - r_ij p_j)²``, by the iteration of T.-F. Wu, C.-J. Lin
    and R. C. Weng, Probability estimates for multi-class classification by pairwise coupling, 2004,
    algorithm 2, which ends as in LIBSVM.

    Parameters
    ----------
    scores : Tensor
        ``[rows, pairs]`` of float32.
    slopes, offsets : Tensor
        ``[pairs]``.
    classes : int
    """
    (rows, _) = shape_of(scores)
    (probabilities, _, _) = te.extern(
        [(rows, classes), (rows, classes, classes), (rows, classes)],
        [scores, slopes, offsets],
        lambda ins, outs: _coupled(ins, outs, rows, classes),
        name="coupled",
        dtype=["float32"] * 3,
    )
    return probabilities  # type: ignore[no-any-return]


def _coupled(inputs: Sequence[Any], outputs: Sequence[Any], rows: Any, classes: int) -> Any:
    """Iterate; the other outputs are memory for the matrix Q of the paper and for Q p."""
    ib = tir.ir_builder.create()
    scores, slopes, offsets = (ib.buffer_ptr(each) for each in inputs)
    p, q, qp = (ib.buffer_ptr(each) for each in outputs)

    def number(value: float) -> Any:
        return te.const(value, "float32")

    with each_thread(ib, rows) as row:
        _pairwise(ib, row, classes, (scores, slopes, offsets), q)
        _to_matrix(ib, row, classes, q, qp)
        step = ib.allocate("int32", (1,), name="step", scope="local")
        total = ib.allocate("float32", (1,), name="total", scope="local")
        error = ib.allocate("float32", (1,), name="error", scope="local")
        with ib.for_range(0, classes, name="i") as i:
            p[row, i] = number(1 / classes)
        step[0] = 0
        with ib.while_loop(step[0] < _MOST_STEPS):
            total[0] = number(0)
            with ib.for_range(0, classes, name="i") as i:
                qp[row, i] = number(0)
                with ib.for_range(0, classes, name="j") as j:
                    qp[row, i] = qp[row, i] + q[row, i, j] * p[row, j]
                total[0] = total[0] + p[row, i] * qp[row, i]
            error[0] = number(0)
            with ib.for_range(0, classes, name="i") as i:
                error[0] = te.max(error[0], te.abs(qp[row, i] - total[0]))
            is_done = ib.let("is_done", error[0] < number(_TOLERANCE / classes))
            step[0] = te.if_then_else(is_done, _MOST_STEPS, step[0] + 1)
            with ib.for_range(0, te.if_then_else(is_done, 0, classes), name="i") as i:
                own = ib.let("own", q[row, i, i])
                change = ib.let("change", (total[0] - qp[row, i]) / own)
                scale = ib.let("scale", number(1) + change)
                p[row, i] = p[row, i] + change
                grown = total[0] + change * (change * own + number(2) * qp[row, i])
                total[0] = grown / scale / scale
                with ib.for_range(0, classes, name="j") as j:
                    qp[row, j] = (qp[row, j] + change * q[row, i, j]) / scale
                    p[row, j] = p[row, j] / scale
    return ib.get()


def _pairwise(ib: Any, row: Any, classes: int, tables: Sequence[Any], q: Any) -> None:
    """Store the probability of class i against class j in ``q[row, i, j]``."""
    scores, slopes, offsets = tables
    least, most = te.const(_LEAST, "float32"), te.const(1 - _LEAST, "float32")
    one = te.const(1, "float32")
    with (
        ib.for_range(0, classes, name="i") as i,
        ib.for_range(0, classes - 1 - i, name="after") as after,
    ):
        j = ib.let("j", i + 1 + after)
        pair = ib.let("pair", i * classes - te.indexdiv(i * (i + 1), 2) + after)
        value = ib.let("value", scores[row, pair] * slopes[pair] + offsets[pair])
        own = ib.let("own", te.max(te.min(te.sigmoid(-value), most), least))
        q[row, i, j] = own
        q[row, j, i] = one - own


def _to_matrix(ib: Any, row: Any, classes: int, q: Any, diagonal: Any) -> None:
    """Replace the probabilities r in `q` by the matrix Q: ``Q_ii = sum of r_ji²``.

    Elsewhere, ``Q_ij = -r_ji r_ij``.
    """
    with ib.for_range(0, classes, name="i") as i:
        diagonal[row, i] = te.const(0, "float32")
        with ib.for_range(0, classes, name="j") as j, ib.if_scope(te.any(i < j, j < i)):
            own = ib.let("own", q[row, j, i])
            diagonal[row, i] = diagonal[row, i] + own * own
    with ib.for_range(0, classes, name="i") as i:
        q[row, i, i] = diagonal[row, i]
        with ib.for_range(0, classes - 1 - i, name="after") as after:
            j = ib.let("j", i + 1 + after)
            both = ib.let("both", -(q[row, i, j] * q[row, j, i]))
            q[row, i, j] = both
            q[row, j, i] = both


__all__ = ["class_probabilities", "pair_votes", "pairs_of", "radial"]
