"""One compilation of a graph: its costs, their measurement or estimates."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Device, TargetValue
from ..costs import Costs, EstimatedCosts
from ..costs.estimated import LEAST_GAIN
from ..costs.measuring import measure_sites
from ..costs.table import CostTable
from ..errors import refuse
from ..extents import are_known
from ..profiles import profile_of
from ..records.trial import canonical
from .compiled import CompiledGraph
from .cost_model import CostModel
from .kernel_library import KernelLibrary
from .progress import Progress
from .scheduler import alternatives_of, collect_operators
from .tensor import GraphTensor
from .tuned_knobs import TunedKnobs, UsedKnobs


@dataclass
class Compilation:
    """A graph of the core, with everything that its compilation needs.

    Attributes
    ----------
    core : Any
        The core's graph.
    target : TargetValue
    operators : list
        Custom operators.
    model : CostModel or None
        Estimates the costs of custom operators and, without measured and estimated costs, all
        other costs. By default a :class:`CostModel`, with the time per byte of `costs`.
    costs : Costs or None
        Measured costs.
    max_live_bytes : int or None
    progress : callable or None
    compare_storages : bool
        Whether kernels over textures are estimated even where none may gain.
    estimated : EstimatedCosts or None
        Estimates of all costs, if :meth:`estimate` began them.
    tuned : TunedKnobs or None
        The knobs of some kernels; the others have their defaults.
    """

    core: Any
    target: TargetValue
    operators: list[Any]
    model: CostModel | None
    costs: Costs | None
    max_live_bytes: int | None
    progress: Progress | None
    compare_storages: bool = False
    tuned: TunedKnobs | None = None
    estimated: EstimatedCosts | None = None
    _reports: list[Any] = field(default_factory=list)
    _used: UsedKnobs = field(default_factory=UsedKnobs)
    _sites: Any = field(default_factory=_core._CompiledSites)

    def __post_init__(self) -> None:
        """Refuse limits that are not numbers of bytes."""
        most = self.max_live_bytes
        if most is not None and (not isinstance(most, int) or most < 1):
            refuse(
                "BadValue",
                f"max_live_bytes is {most!r}, not a positive number of bytes",
                "give a positive integer, or leave max_live_bytes out",
            )

    def run_passes(self, names: Sequence[str], kernels: KernelLibrary) -> None:
        """Run passes over the graph; `kernels` answers the passes that depend on the target."""
        self._reports = self.core.run_passes(list(names), kernels)

    def schedule(self, textures: bool, open_outputs: set[str]) -> None:
        """Give operators their alternatives: kernels over buffers, and if wanted over textures.

        Outputs are written in row-major order, except the `open_outputs`, which may be converted.
        """
        tuned, used = self.tuned, self._used
        scheduler = (
            alternatives_of
            if tuned is None
            else lambda task: alternatives_of(task, tuned.choose_for(task, used))
        )
        collect_operators(
            self.core.schedule_operators(scheduler, textures, open_outputs, self.progress)
        )
        if tuned is not None:
            tuned.used.add(used)

    def has_costs(self, measure: object) -> bool:
        """Whether costs are known, or will be measured."""
        if measure is not None and self.costs is None:
            refuse(
                "BadOption",
                "measure= needs costs=, the file that measured costs are added to",
                "give costs=texloom.costs.open_costs(path, measure=device)",
            )
        return self.costs is not None

    def estimate(self, has_symbols: bool) -> bool:
        """Estimate costs by the profile of the target, if textures may gain or are to be compared.

        Returns whether there are estimates. Kernels for sizes that are known only at each run have
        none, and the user's cost model takes the place of them.
        """
        is_wanted = self.compare_storages or self._may_gain_by_textures
        if is_wanted and not has_symbols and self.model is None:
            self.estimated = EstimatedCosts(profile_of(self.target))
        return self.estimated is not None

    @property
    def _may_gain_by_textures(self) -> bool:
        return self.target.has_images and profile_of(self.target).has_faster_textures

    def measure(
        self, device: Device, inputs: Sequence[GraphTensor], launches: Callable[[], CompiledGraph]
    ) -> None:
        """Measure all alternatives whose costs are not known yet.

        `launches` compiles a graph of almost empty kernels.
        """
        if self.operators:
            refuse(
                "BadOption",
                "a graph with custom operators cannot be measured",
                "leave out measure=: then custom operators have the costs of cost= or of the "
                "cost model",
            )
        _refuse_unmeasurable(inputs)
        assert self.costs is not None
        table = CostTable({})
        measure_sites(
            lambda scopes, fixed: self._compiled(scopes, table, fixed, may_fold=False),
            self.core.alternatives(),
            [_random(each) for each in inputs],
            device,
            self.costs,
            table,
            launches,
            str(self.target),
            self.progress,
        )

    def run(self, scopes: str) -> tuple[Any, dict[str, Any] | None]:
        """Compile; return the graph of the core, and the choice by costs if there was one.

        The choice is also metadata of the package, as JSON, and so are measured knobs of kernels.
        """
        table = None if self.costs is None else self.costs.table()
        source = self.estimated if table is None else table
        compiled = self._compiled(scopes, source, [])
        knobs = self._used.facts()
        if knobs["kernels"]:
            compiled.annotate({"knobs": canonical(knobs)})
        if source is None:
            return compiled, None
        choice = {"device": self._device(), **compiled.scopes()}
        if self.estimated is not None:
            choice["spent"] = self._spent(choice["option_keys"])
        compiled.annotate({"scopes": json.dumps(choice)})
        return compiled, choice

    def _device(self) -> str:
        """Return what the costs are of."""
        if self.estimated is None:
            assert self.costs is not None
            return str(self.costs.device)
        return f"{self.estimated.profile.name} (estimated)"

    def _spent(self, keys: Sequence[Sequence[str]]) -> list[list[dict[str, float]]]:
        """Return nanoseconds of each option by what bounds it; {} for one without an estimate."""
        assert self.estimated is not None
        known = {
            key: {bound.value: seconds * 1e9 for bound, seconds in each.spent.items()}
            for key, each in self.estimated.asked.items()
        }
        return [[known.get(key, {}) for key in own] for own in keys]

    def _model(self, source: CostTable | EstimatedCosts | None) -> CostModel:
        if self.model is not None:
            return self.model
        if isinstance(source, EstimatedCosts):
            return CostModel(bytes_per_ns=source.profile.memory_rate / 1e9)
        fitted = None if source is None else source.model
        if fitted is None or fitted.ns_per_byte <= 0:
            return CostModel()
        return CostModel(bytes_per_ns=1 / fitted.ns_per_byte)

    def _compiled(
        self,
        scopes: str,
        source: CostTable | EstimatedCosts | None,
        fixed: Sequence[str],
        may_fold: bool = True,
    ) -> Any:
        model = self._model(source)
        gain = {}
        if isinstance(source, EstimatedCosts):
            # Where textures are only compared, other compilations leave all tensors in buffers.
            gain = {"least_gain": LEAST_GAIN if self._may_gain_by_textures else 1.0}
        options = _core._GraphOptions(
            storage=scopes,
            model=_core._CostModel(model.start_ns, model.bytes_per_ns, model.operations_per_ns),
            passes=self._reports,
            costs=source,
            fixed=list(fixed),
            max_live_bytes=self.max_live_bytes,
            # Storages are compared as they are, without folds, which have costs of their own.
            may_fold=may_fold and not self.compare_storages,
            **gain,
            compiled=self._sites,
        )
        return self.core.compile(self.operators, options)


def _refuse_unmeasurable(inputs: Sequence[GraphTensor]) -> None:
    """Refuse inputs for which no random values can be made."""
    for tensor in inputs:
        if not are_known(tensor.shape):
            refuse(
                "BadOption",
                f"a graph whose input {tensor.name!r} has symbols in its shape cannot be measured",
                "measure a graph with numbers in place of the symbols; for this graph, leave out "
                "measure=",
            )
        if tensor.dtype == "bfloat16":
            refuse(
                "BadOption",
                f"a graph whose input {tensor.name!r} is bfloat16, which NumPy lacks, cannot be "
                "measured",
                "make the input float32 and cast it in the graph, or leave out measure=",
            )


def _random(tensor: GraphTensor) -> NDArray[Any]:
    """Return random values from 0 to 1; integers are 0, because they may be indices."""
    dtype = np.dtype(tensor.dtype)
    if dtype.kind != "f":
        return np.zeros(tensor.shape, dtype)
    return np.random.default_rng(0).random(tensor.shape, "float32").astype(dtype)


__all__ = ["Compilation"]
