"""Sums of products in Einstein's notation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, agreed, number_of, shape_of
from ..contraction import Contraction
from ..precision import sum_dtype
from .matrix import rounded

_ELLIPSIS = "..."


@dataclass(frozen=True)
class Equation:
    """An equation, with a label for each axis; the axes of an ellipsis are numbered from the last.

    Attributes
    ----------
    inputs : tuple of tuple of str
        The labels of each input.
    output : tuple of str
    """

    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, ranks: Sequence[int]) -> Equation:
        """Return the equation for inputs of these ranks.

        Without an arrow, the result has the axes of the ellipsis and then, in alphabetical order,
        the labels that occur once.

        Raises
        ------
        ValueError
            For a text that is not a valid equation for these ranks.
        """
        left, arrow, right = text.replace(" ", "").partition("->")
        terms = left.split(",")
        if len(terms) != len(ranks):
            raise ValueError(f"{text!r} has {len(terms)} terms, but there are {len(ranks)} inputs")
        inputs = tuple(_labels(term, rank, text) for term, rank in zip(terms, ranks, strict=True))
        hidden = max((sum(e.isdigit() for e in labels) for labels in inputs), default=0)
        dots = [str(i) for i in reversed(range(hidden))]
        if arrow:
            before, is_open, after = right.partition(_ELLIPSIS)
            output = (*before, *(dots if is_open else ()), *after)
        else:
            counts = Counter(each for labels in inputs for each in labels)
            output = (*dots, *sorted(e for e, n in counts.items() if n == 1 and not e.isdigit()))
        known = {each for labels in inputs for each in labels}
        if len(set(output)) != len(output) or not known.issuperset(output):
            raise ValueError(
                f"{text!r} has an output label that occurs twice, or that no input has"
            )
        return cls(inputs, output)


def _labels(term: str, rank: int, text: str) -> tuple[str, ...]:
    before, is_open, after = term.partition(_ELLIPSIS)
    named = len(before) + len(after)
    if not (before + after).isalpha() and named:
        raise ValueError(f"{text!r} has labels that are not letters")
    if named > rank or (named < rank and not is_open):
        raise ValueError(f"the term {term!r} of {text!r} does not fit an input of {rank} axes")
    return (*before, *(str(i) for i in reversed(range(rank - named))), *after)


def einsum(*inputs: Tensor, equation: str) -> Tensor:
    """Return a sum of products of the inputs' elements.

    Inputs are multiplied one after the other; labels that no later step needs are summed at once.

    Parameters
    ----------
    *inputs : Tensor
        Of one dtype.
    equation : str
        As of ``np.einsum``: ``"bij,bjk->bik"``. A label that occurs twice in a term is a diagonal.
        Extents of 1 are broadcast.

    Returns
    -------
    Tensor
        Of the inputs' dtype. Sums of float16 and bfloat16 are float32.

    Raises
    ------
    ValueError
        For an equation that does not fit the inputs.
    """
    parsed = Equation.parse(equation, [len(x.shape) for x in inputs])
    extents = _extents(parsed, inputs, equation)
    made, labels = inputs[0], parsed.inputs[0]
    for n, (tensor, own) in enumerate(zip(inputs[1:], parsed.inputs[1:], strict=True), start=2):
        later = {e for each in (*parsed.inputs[n:], parsed.output) for e in each}
        last = n == len(inputs)
        kept = parsed.output if last else tuple(dict.fromkeys(labels + own))
        kept = tuple(each for each in kept if each in later)
        made = _product([(made, labels), (tensor, own)], kept, extents)
        labels = kept
    if len(inputs) == 1:
        made = _product([(made, labels)], parsed.output, extents)
    return rounded(made, inputs[0].dtype)


def _extents(parsed: Equation, inputs: Sequence[Tensor], equation: str) -> dict[str, Extent]:
    found: dict[str, list[Extent]] = {}
    for x, labels in zip(inputs, parsed.inputs, strict=True):
        for label, extent in zip(labels, shape_of(x), strict=True):
            found.setdefault(label, []).append(extent)
    made: dict[str, Extent] = {}
    for label, extents in found.items():
        wide = [extent for extent in extents if number_of(extent) != 1]
        common = agreed(wide) if wide else 1
        if common is None:
            told = " and ".join(map(str, dict.fromkeys(wide)))
            raise ValueError(f"the label {label!r} of {equation!r} has the extents {told}")
        made[label] = common
    return made


def _product(
    factors: Sequence[tuple[Tensor, tuple[str, ...]]],
    output: tuple[str, ...],
    extents: dict[str, Extent],
) -> Tensor:
    """Return the product of tensors, summed over the labels that the output does not have."""
    dtype = sum_dtype(factors[0][0].dtype)
    summed = dict.fromkeys(e for _, labels in factors for e in labels if e not in output)
    axes = {
        label: te.reduce_axis((0, extents[label]), name=f"r{i}") for i, label in enumerate(summed)
    }

    def element(*i: Any) -> Any:
        index = {**dict(zip(output, i, strict=True)), **{e: axis.var for e, axis in axes.items()}}
        value = None
        for tensor, labels in factors:
            read = tensor(
                *(
                    0 if number_of(extent) == 1 else index[label]
                    for label, extent in zip(labels, tensor.shape, strict=True)
                )
            ).astype(dtype)
            value = read if value is None else value * read
        return te.sum(value, axis=list(axes.values())) if axes else value

    roles = _roles(factors, output) if axes else None
    marks = roles.marks() if roles else {}
    return te.compute(tuple(extents[e] for e in output), element, name="einsum", **marks)


def _roles(
    factors: Sequence[tuple[Tensor, tuple[str, ...]]], output: tuple[str, ...]
) -> Contraction | None:
    """Return the axes of two factors' product; one factor ends with the output's last label."""
    for (_, labels), (_, others) in zip(factors, reversed(factors), strict=True):
        if len(factors) == 2 and output and labels[-1:] == output[-1:] and output[-1] not in others:
            rows = [axis for axis, each in enumerate(output) if each not in labels]
            return Contraction(rows[-1] if rows else None)
    return None


__all__ = ["Equation", "einsum"]
