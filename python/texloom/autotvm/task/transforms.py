"""Knobs of AutoTVM: splits, orders, annotations and other options, with what applies them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from math import prod
from typing import Any, ClassVar, NamedTuple

from ... import te
from ..._core import IterVar, Schedule
from ...errors import refuse
from ...tuning.splits import factors, inner_parts, powers_of_two


class Axis(NamedTuple):
    """A loop that a knob will make, before there is a schedule.

    Attributes
    ----------
    space : TransformSpace or None
        The knob.
    index : int
        The place among the loops that it makes.
    """

    space: Any
    index: int


class VirtualAxis:
    """A loop of a space, given by an axis of a schedule or by its extent.

    Parameters
    ----------
    var : IterVar, VirtualAxis or int
    name : str, optional

    Attributes
    ----------
    name : str
    length : int
        The extent; -1 if it is not known.

    Raises
    ------
    TVMError
        TL2040 for values of other kinds.
    """

    def __init__(self, var: Any, name: str | None = None) -> None:
        if isinstance(var, VirtualAxis):
            self.name, self.length = name or var.name, var.length
        elif isinstance(var, IterVar):
            extent = None if var.dom is None else getattr(var.dom.extent, "value", None)
            self.name, self.length = name or var.var.name, -1 if extent is None else int(extent)
        elif isinstance(var, int):
            self.name, self.length = name or "axis", var
        else:
            refuse(
                "BadArgument",
                f"a knob splits an axis or a number, but {type(var).__name__} is given",
                "give an axis of the schedule, or cfg.axis(128)",
            )

    def __repr__(self) -> str:
        return f"vaxis({self.name})"


class SplitEntity:
    """The extents of the loops into which a loop is split.

    Attributes
    ----------
    size : list of int
        The outermost one first, which is -1 where it follows from the others.
    """

    kind: ClassVar[str] = "sp"

    def __init__(self, size: Sequence[int]) -> None:
        self.size = list(size)

    @property
    def value(self) -> list[int]:
        """What logs have."""
        return self.size

    def apply(self, sch: Schedule, op: Any, axis: IterVar) -> list[IterVar]:
        """Split an axis of a stage; return the loops, the outermost one first."""
        loops = []
        for place in range(1, len(self.size)):
            outer, axis = sch[op].split(axis, prod(self.size[place:]))
            loops.append(outer)
        return [*loops, axis]

    def __repr__(self) -> str:
        return str(self.size)


class ReorderEntity:
    """An order of loops.

    Attributes
    ----------
    perm : list of int
        The place of each loop among the given ones.
    """

    kind: ClassVar[str] = "re"

    def __init__(self, perm: Sequence[int]) -> None:
        self.perm = list(perm)

    @property
    def value(self) -> list[int]:
        """What logs have."""
        return self.perm

    def apply(self, sch: Schedule, op: Any, axes: Sequence[IterVar]) -> list[IterVar]:
        """Reorder axes of a stage; return them in the new order."""
        order = [axes[place] for place in self.perm]
        sch[op].reorder(*order)
        return order

    def __repr__(self) -> str:
        return str(self.perm)


class AnnotateEntity:
    """What is done to each of some loops.

    Attributes
    ----------
    anns : list of str
        ``"none"``, ``"unroll"``, ``"vec"``, or the tag of a thread; numbers for ``locate_cache``.
    """

    kind: ClassVar[str] = "an"

    def __init__(self, anns: Sequence[Any]) -> None:
        self.anns = list(anns)

    @property
    def value(self) -> list[Any]:
        """What logs have."""
        return self.anns

    def apply(
        self,
        sch: Schedule,
        op: Any,
        axes: Sequence[IterVar],
        axis_lens: Sequence[int] | None = None,
        max_unroll: int | None = None,
        vec_size: Sequence[int] | None = None,
        cfg: Any = None,
        source: Sequence[Sequence[Any]] | None = None,
    ) -> Sequence[IterVar]:
        """Annotate axes of a stage; return them.

        Parameters
        ----------
        sch : Schedule
        op : Tensor or Operation
            The stage.
        axes : sequence of IterVar
        axis_lens : sequence of int, optional
            Their extents, for the two limits that follow.
        max_unroll : int, optional
            Longer loops are not unrolled, which makes `cfg` invalid.
        vec_size : sequence of int, optional
            Loops of other extents are not vectorized, which makes `cfg` invalid.
        cfg : ConfigEntity, optional
        source : sequence of sequences of Tensor, optional
            For ``locate_cache``: the stages that are computed at the axis of each number.
        """
        if source is not None:
            for stages, place in zip(source, self.anns, strict=True):
                for stage in stages:
                    sch[stage].compute_at(sch[op], axes[int(place)])
            return axes
        lengths = axis_lens or [None] * len(self.anns)
        for axis, name, length in zip(axes, self.anns, lengths, strict=False):
            if name == "none":
                continue
            if name == "unroll":
                if max_unroll and length is not None and length > max_unroll and cfg is not None:
                    cfg.raise_error("Too large factor for unrolling")
                sch[op].unroll(axis)
            elif name == "vec":
                if vec_size and length is not None and length not in vec_size and cfg is not None:
                    cfg.raise_error("Wrong size of lanes in vectorization")
                sch[op].vectorize(axis)
            else:
                sch[op].bind(axis, te.thread_axis(name))
        return axes

    def __repr__(self) -> str:
        return str(self.anns)


class OtherOptionEntity:
    """An option.

    Attributes
    ----------
    val : Any
    """

    kind: ClassVar[str] = "ot"

    def __init__(self, val: Any) -> None:
        self.val = val

    @property
    def value(self) -> Any:
        """What logs have."""
        return self.val

    def __repr__(self) -> str:
        return str(self.val)


Entity = SplitEntity | ReorderEntity | AnnotateEntity | OtherOptionEntity
ENTITIES: Mapping[str, Callable[[Any], Entity]] = {
    each.kind: each for each in (SplitEntity, ReorderEntity, AnnotateEntity, OtherOptionEntity)
}
"""The classes of entities by the word that logs have for them."""


class TransformSpace:
    """A knob.

    Attributes
    ----------
    entities : list
        Its values.
    num_output : int
        The loops that it makes.
    """

    entity: ClassVar[Callable[[Any], Any]]
    """The class of its values."""
    entities: list[Any]
    num_output = 0

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.entities)

    def __getitem__(self, index: int) -> Any:
        """Return the value with this number."""
        return self.entities[index]


def _unknown(what: str, policy: str, known: str) -> Any:
    refuse("BadArgument", f"there is no policy {policy!r} of {what}", f"it is one of {known}")


class SplitSpace(TransformSpace):
    """Ways to split a loop: see :meth:`.ConfigSpace.define_split`."""

    entity = SplitEntity

    def __init__(self, axes: Sequence[VirtualAxis], policy: str, **kwargs: Any) -> None:
        self.policy, self.num_output = policy, int(kwargs.get("num_outputs", 0))
        self.product = axes[0].length
        if policy == "candidate":
            sizes: Iterator[Sequence[int]] = iter(kwargs["candidate"])
            self.num_output = self.num_output or len(kwargs["candidate"][0])
        else:
            sizes = self._sizes(kwargs.get("max_factor"), kwargs.get("no_tail"))
        keep = kwargs.get("filter") or (lambda entity: True)
        self.entities = [each for each in map(SplitEntity, sizes) if keep(each)]
        if any(len(each.size) != self.num_output for each in self.entities):
            refuse(
                "BadArgument",
                f"a candidate of a split has not the {self.num_output} extents of num_outputs",
                "give candidates of equal lengths, with -1 for the outermost loop",
            )

    def _sizes(self, most: int | None, divides: bool | None) -> Iterator[Sequence[int]]:
        divisors, powers = factors(self.product), powers_of_two(self.product)
        values = {
            "factors": divisors,
            "power2": powers,
            "verbose": sorted({*divisors, *powers}),
        }.get(self.policy)
        if values is None:
            _unknown("splits", self.policy, "factors, power2, verbose, candidate")
        if self.num_output < 1 or self.product < 1:
            refuse(
                "BadArgument",
                f"a loop of extent {self.product} is split into {self.num_output}",
                "give a loop of known extent, and num_outputs=2 or more",
            )
        values = [each for each in values or () if most is None or each <= most]
        exact = self.policy == "factors" if divides is None else divides
        for inner in inner_parts(self.product, self.num_output - 1, values, exact):
            yield [-1, *inner]

    def __repr__(self) -> str:
        return (
            f"Split(policy={self.policy}, product={self.product}, num_outputs={self.num_output}) "
            f"len={len(self)}"
        )


class ReorderSpace(TransformSpace):
    """Orders of loops: see :meth:`.ConfigSpace.define_reorder`."""

    entity = ReorderEntity

    def __init__(self, axes: Sequence[Any], policy: str, **kwargs: Any) -> None:
        self.policy, self.num_output = policy, len(axes)
        self.entities = [ReorderEntity(each) for each in self._orders(axes, **kwargs)]

    def _orders(self, axes: Sequence[Any], **kwargs: Any) -> Iterator[Sequence[int]]:
        count = len(axes)
        if self.policy == "identity":
            yield range(count)
        elif self.policy == "all":
            yield from permutations(range(count))
        elif self.policy == "interval_all":
            begin, end = kwargs["interval"]
            for inner in permutations(range(begin, end)):
                yield [*range(begin), *inner, *range(end, count)]
        elif self.policy == "candidate":
            for order in kwargs["candidate"]:
                yield [list(axes).index(each) for each in order]
        elif self.policy == "interleave":
            spatial, reduce = kwargs["spatial"], kwargs["reduce"]
            outer = _interleaved([each[:-1] for each in spatial])
            inner_chains = [*(each[-1:] for each in spatial), *reduce]
            inner = list(_interleaved(inner_chains))
            for one, other in product(outer, inner):
                yield [list(axes).index(each) for each in (*one, *other)]
        else:
            _unknown("orders", self.policy, "identity, all, interval_all, candidate, interleave")

    def __repr__(self) -> str:
        return f"Reorder(policy={self.policy}) len={len(self)}"


def _interleaved(chains: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield all merges of sequences that keep the order of each."""
    if not any(chains):
        yield ()
    for place, chain in enumerate(chains):
        if chain:
            rest = [own[1:] if place == number else own for number, own in enumerate(chains)]
            for merged in _interleaved(rest):
                yield (chain[0], *merged)


class AnnotateSpace(TransformSpace):
    """Annotations of loops: see :meth:`.ConfigSpace.define_annotate`."""

    entity = AnnotateEntity

    _CHOICES: ClassVar[Mapping[str, Sequence[str]]] = {
        "unroll": ("unroll",),
        "try_unroll": ("none", "unroll"),
        "vec": ("vec",),
        "try_vec": ("none", "vec"),
        "try_unroll_vec": ("none", "unroll", "vec"),
    }

    def __init__(self, axes: Sequence[Any], policy: str, **kwargs: Any) -> None:
        self.policy, self.num_output = policy, len(axes)
        self.entities = [AnnotateEntity(each) for each in self._annotations(**kwargs)]

    def _annotations(self, **kwargs: Any) -> Iterator[Sequence[Any]]:
        count = self.num_output
        if self.policy == "candidate":
            yield from kwargs["candidate"]
        elif self.policy == "locate_cache":
            yield from product(range(count), repeat=int(kwargs["num_anchor"]))
        elif self.policy in ("bind_gpu", "bind_gpu_virtual"):
            letters = "zyx"[-(count // (3 if self.policy == "bind_gpu_virtual" else 2)) :]
            kinds = ["blockIdx.{}", "threadIdx.{}"]
            if self.policy == "bind_gpu_virtual":
                kinds.insert(1, "vthread")
            tags = [kind.format(letter) for kind in kinds for letter in letters]
            if len(tags) != count:
                refuse(
                    "BadArgument",
                    f"{self.policy} binds blocks and threads in up to three directions, but "
                    f"{count} loops are given",
                    "give as many loops of blocks as of threads",
                )
            yield tags
        elif self.policy in self._CHOICES:
            yield from product(self._CHOICES[self.policy], repeat=count)
        else:
            known = "candidate, locate_cache, bind_gpu, bind_gpu_virtual, " + ", ".join(
                self._CHOICES
            )
            _unknown("annotations", self.policy, known)

    def __repr__(self) -> str:
        return f"Annotate(policy={self.policy}) len={len(self)}"


class OtherOptionSpace(TransformSpace):
    """Values of an option: see :meth:`.ConfigSpace.define_knob`."""

    entity = OtherOptionEntity

    def __init__(self, axes: Sequence[Any], policy: str, **kwargs: Any) -> None:
        del axes, policy
        self.entities = [OtherOptionEntity(each) for each in kwargs["candidate"]]

    def __repr__(self) -> str:
        return f"OtherOption({self.entities}) len={len(self)}"


__all__ = [
    "ENTITIES",
    "AnnotateEntity",
    "AnnotateSpace",
    "Axis",
    "Entity",
    "OtherOptionEntity",
    "OtherOptionSpace",
    "ReorderEntity",
    "ReorderSpace",
    "SplitEntity",
    "SplitSpace",
    "TransformSpace",
    "VirtualAxis",
]
