"""Spaces of AutoTVM: what a template declares, and one point of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import IterVar
from ...errors import refuse
from ...ops.schedules.family import MOST_POINTS
from ...tuning.choices import Choices, Point
from ...tuning.features import numbers_of
from ...tuning.splits import factors
from .transforms import (
    ENTITIES,
    AnnotateEntity,
    AnnotateSpace,
    Axis,
    Entity,
    OtherOptionEntity,
    OtherOptionSpace,
    ReorderEntity,
    ReorderSpace,
    SplitEntity,
    SplitSpace,
    TransformSpace,
    VirtualAxis,
)


class InstantiationError(ValueError):
    """A template has called ``cfg.raise_error``, or refuses a configuration."""


class ConfigSpace:
    """The knobs of a template. Configurations have numbers: the first knob changes fastest.

    While a template declares it, ``cfg["knob"]`` is the first value of the knob.

    Attributes
    ----------
    space_map : dict of str to TransformSpace
        The knobs by name.
    flop : float
        What the template has given by :meth:`add_flop`.
    is_fallback : bool
        Whether it stands for a configuration that nobody has found.
    code_hash : str or None
        Of the template's code; Texloom reads and writes it, but does not compute it.
    errors : list of str
    """

    is_fallback = False

    def __init__(self) -> None:
        self.space_map: dict[str, TransformSpace] = {}
        self._entity_map: dict[str, Any] = {}
        self._filters: list[Callable[[ConfigEntity], bool]] = []
        self.flop = 0.0
        self.code_hash: str | None = None
        self.errors: list[str] = []

    @staticmethod
    def axis(var: Any) -> VirtualAxis:
        """Return a loop of the space: of an axis of a schedule, or of an extent."""
        return VirtualAxis(var)

    reduce_axis = axis

    def define_split(
        self, name: str, axis: Any, policy: str = "factors", **kwargs: Any
    ) -> list[Axis]:
        """Declare a knob that splits a loop.

        Parameters
        ----------
        name : str
        axis : IterVar, VirtualAxis or int
        policy : str
            ``"factors"``: divisors of the extent; ``"power2"``: powers of two; ``"verbose"``: both;
            ``"candidate"``: those of `candidate`.
        **kwargs
            `num_outputs`, the loops that it makes; `max_factor`, the largest extent but the
            outermost one's; `no_tail`, whether their product must divide the extent; `filter`,
            which is given a SplitEntity; `candidate`, a list of lists of extents.
        """
        return self._define(name, SplitSpace, [VirtualAxis(axis)], policy, kwargs)

    def define_reorder(
        self, name: str, axes: Sequence[Any], policy: str, **kwargs: Any
    ) -> list[Axis]:
        """Declare a knob that reorders loops.

        Parameters
        ----------
        name : str
        axes : sequence of Axis, IterVar or VirtualAxis
        policy : str
            ``"identity"``, ``"all"``, ``"interval_all"`` (with `interval`, a pair of places),
            ``"candidate"`` (with `candidate`, a list of orders of `axes`), or ``"interleave"``
            (with `spatial` and `reduce`, lists of chains whose order is kept).
        **kwargs
        """
        return self._define(name, ReorderSpace, axes, policy, kwargs)

    def define_annotate(
        self, name: str, axes: Sequence[Any], policy: str, **kwargs: Any
    ) -> list[Axis]:
        """Declare a knob that unrolls, vectorizes or binds loops.

        Parameters
        ----------
        name : str
        axes : sequence of Axis, IterVar or VirtualAxis
        policy : str
            ``"unroll"``, ``"try_unroll"``, ``"vec"``, ``"try_vec"``, ``"try_unroll_vec"``,
            ``"bind_gpu"``, ``"bind_gpu_virtual"``, ``"locate_cache"`` (with `num_anchor`), or
            ``"candidate"`` (with `candidate`, a list of annotations of all axes).
        **kwargs
        """
        return self._define(name, AnnotateSpace, axes, policy, kwargs)

    def define_knob(self, name: str, candidate: Sequence[Any]) -> None:
        """Declare a knob with these values, which are values of JSON."""
        self._define(name, OtherOptionSpace, [], "", {"candidate": candidate})

    def add_flop(self, flop: float) -> None:
        """Count operations of floats that the template computes, for reports."""
        self.flop += float(flop)

    def raise_error(self, msg: str) -> None:
        """Make the configuration invalid: it is not built."""
        self.errors.append(msg)

    def valid(self) -> bool:
        """Whether the template has not called :meth:`raise_error` for it."""
        return not self.errors

    def multi_filter(self, filter: Callable[[ConfigEntity], bool]) -> None:
        """Leave out the configurations for which a function is not true."""
        self._filters.append(filter)
        self.__dict__.pop("choices", None)
        self.__dict__.pop("_length", None)

    @property
    def range_length(self) -> int:
        """The number of configurations, with those that are left out."""
        return self.choices.size

    @cached_property
    def choices(self) -> Choices:
        """The space, as searches see it. Nothing may be declared after it was asked for."""
        return Choices(
            {name: [each.value for each in own.entities] for name, own in self.space_map.items()},
            {
                f"filter {number}": self._rule(own)
                for number, own in enumerate(self._filters, start=1)
            },
        )

    def _rule(self, keep: Callable[[ConfigEntity], bool]) -> Callable[[Point], bool]:
        return lambda point: bool(keep(self.config_of(point)))

    def is_index_valid(self, index: int) -> bool:
        """Whether there is a configuration with this number, and it is not left out."""
        choices = self.choices
        return 0 <= index < choices.size and choices.broken(choices.point(index)) is None

    @cached_property
    def _length(self) -> int:
        indices = range(self.range_length)
        return sum(map(self.is_index_valid, indices)) if self._filters else len(indices)

    def __len__(self) -> int:
        """Return the number of configurations."""
        return self._length

    def get(self, index: int) -> ConfigEntity:
        """Return the configuration with this number; IndexError if there is none."""
        if not 0 <= index < self.range_length:
            raise IndexError(f"Index out of range: size {self.range_length}, got index {index}")
        places = self.choices.places(index)
        entities = {name: own[places[name]] for name, own in self.space_map.items()}
        return ConfigEntity(index, self.code_hash, entities)

    def config_of(self, values: Mapping[str, Any]) -> ConfigEntity:
        """Return the configuration with these values of knobs, as logs have them.

        Raises
        ------
        TVMError
            TL2040 if the space has no such values.
        """
        index = self.choices.index(values)
        if index is None:
            refuse(
                "BadArgument",
                f"the space has no configuration {dict(values)}",
                "the template has changed since: tune it again",
            )
        return self.get(index)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a knob."""
        return self._entity_map[name]

    def _define(
        self,
        name: str,
        kind: Any,  # a subclass of TransformSpace
        axes: Sequence[Any],
        policy: str,
        kwargs: Mapping[str, Any],
    ) -> list[Axis]:
        space = kind(list(map(self._axis_of, axes)), policy, **kwargs)
        if not len(space):
            refuse(
                "BadArgument",
                f"the knob {name!r} has no values",
                "weaken its filter, or give it candidates",
            )
        self.space_map[name] = space
        self._entity_map[name] = space[0]
        return [Axis(space, place) for place in range(space.num_output)]

    @staticmethod
    def _axis_of(axis: Any) -> Any:
        return VirtualAxis(axis) if isinstance(axis, (int, IterVar)) else axis

    def __repr__(self) -> str:
        rows = (f"  {place:2d} {name}: {own}" for place, (name, own) in self._numbered())
        inner = "\n".join(rows)
        count = len(self) if self.range_length <= MOST_POINTS else self.range_length
        return f"ConfigSpace (len={count}, space_map=\n{inner}\n)"

    def _numbered(self) -> Iterator[tuple[int, tuple[str, TransformSpace]]]:
        return enumerate(self.space_map.items())


class ConfigEntity(ConfigSpace):
    """A configuration: a value for each knob. What a template declares again has no effect.

    Parameters
    ----------
    index : int
        Its number in the space.
    code_hash : str or None
    entity_map : mapping of str to Entity
        The value of each knob.

    Attributes
    ----------
    index : int
    """

    def __init__(self, index: int, code_hash: str | None, entity_map: Mapping[str, Entity]) -> None:
        super().__init__()
        self.index, self.code_hash = index, code_hash
        self._entity_map = dict(entity_map)

    def _define(
        self,
        name: str,
        kind: Any,  # a subclass of TransformSpace
        axes: Sequence[Any],
        policy: str,
        kwargs: Mapping[str, Any],
    ) -> list[Axis]:
        del policy
        own = self._entity_map.get(name)
        if own is not None and not isinstance(own, kind.entity):
            # Of a log that does not say what a knob is: `texloom db export --format autotvm`.
            self._entity_map[name] = kind.entity(own.value)
        count = kwargs.get("num_outputs", 0) if kind is SplitSpace else len(axes)
        return [Axis(None, place) for place in range(count)]

    @property
    def point(self) -> Point:
        """The values of the knobs, as searches see them."""
        return Point({name: each.value for name, each in self._entity_map.items()})

    def get_flatten_feature(self) -> NDArray[np.float64]:
        """Return the values of all knobs as numbers."""
        return np.asarray(numbers_of(self.point))

    def get_other_option(self) -> dict[str, Any]:
        """Return the values that are neither splits, orders nor annotations."""
        own = self._entity_map.items()
        return {name: each.val for name, each in own if isinstance(each, OtherOptionEntity)}

    def to_json_dict(self) -> dict[str, Any]:
        """Return what a log has of it."""
        entities = [[name, each.kind, each.value] for name, each in self._entity_map.items()]
        return {"index": self.index, "code_hash": self.code_hash, "entity": entities}

    @staticmethod
    def from_json_dict(json_dict: Mapping[str, Any]) -> ConfigEntity:
        """Return the configuration of a log.

        Raises
        ------
        ValueError
            For what :meth:`to_json_dict` does not return.
        """
        try:
            entities = {
                str(name): ENTITIES[kind](value) for name, kind, value in json_dict["entity"]
            }
            return ConfigEntity(int(json_dict["index"]), json_dict["code_hash"], entities)
        except (KeyError, TypeError) as error:
            raise ValueError(f"it is no configuration: {error!r}") from None

    def __repr__(self) -> str:
        return f"{list(self._entity_map.items())},{self.code_hash},{self.index}"


class FallbackConfigEntity(ConfigSpace):
    """The configuration of a template without a record: each knob has its first value."""

    is_fallback = True

    def __setitem__(self, name: str, entity: Entity) -> None:
        """Give a knob a value."""
        self._entity_map[name] = entity

    def fallback_split(self, name: str, constraints: Sequence[int]) -> None:
        """Give the loops of a split the largest divisors up to some limits, the innermost first.

        Parameters
        ----------
        name : str
            A knob that is declared.
        constraints : sequence of int
            The largest extent of each loop; -1 for none.

        Raises
        ------
        RuntimeError
            If a limit is below 1.
        """
        space = self.space_map[name]
        if not isinstance(space, SplitSpace) or len(constraints) != space.num_output:
            refuse(
                "BadArgument",
                f"fallback_split has {len(constraints)} limits for the knob {name!r}",
                "give a limit for each loop of a split",
            )
        left, sizes = space.product, []
        for most in reversed(constraints):
            found = [each for each in factors(left) if most == -1 or each <= most]
            if not found:
                raise RuntimeError(f"Cannot find feasible fallback split entity for node: {name}")
            sizes.insert(0, found[-1])
            left //= found[-1]
        self._entity_map[name] = SplitEntity(sizes)

    def __repr__(self) -> str:
        return f"{list(self._entity_map.items())},{self.code_hash}"


__all__ = [
    "AnnotateEntity",
    "AnnotateSpace",
    "ConfigEntity",
    "ConfigSpace",
    "FallbackConfigEntity",
    "InstantiationError",
    "OtherOptionEntity",
    "OtherOptionSpace",
    "ReorderEntity",
    "ReorderSpace",
    "SplitEntity",
    "SplitSpace",
    "TransformSpace",
    "VirtualAxis",
]
