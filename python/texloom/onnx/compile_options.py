"""Options of compilation that do not depend on the shapes of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._core import Device
from ..costs import Costs
from ..custom.operators import Operator
from ..errors import refuse
from ..graph.placement import Placed
from ..graph.precision import Precision, check_precision
from ..graph.progress import Progress
from ..graph.tuned_knobs import TunedKnobs
from ..target import Target

Storage = Literal["auto", "buffer", "texture"]

_SCOPES: dict[str, Any] = {"auto": "auto", "buffer": "global", "texture": "texture"}


@dataclass(frozen=True)
class CompileOptions:
    """Options of :class:`texloom.onnx.model.Model` that are the same for all its inputs.

    Raises
    ------
    TVMError
        TL2040 for a storage or a precision that does not exist.
    """

    target: str | Target | None = None
    storage: Storage = "auto"
    progress: Progress | None = None
    precision: Precision = "fp32"
    costs: Costs | None = None
    measure: Device | str | None = None
    operators: Sequence[Operator] = ()
    seed: int | str = 0
    placed: Placed | None = None
    compare_storages: bool = False
    tuned: TunedKnobs | None = None

    def __post_init__(self) -> None:
        check_precision(self.precision)
        if self.storage not in _SCOPES:
            refuse(
                "BadValue",
                f"storage={self.storage!r} is not a choice of storages",
                "use 'auto', 'buffer' or 'texture'",
            )

    @property
    def scopes(self) -> Any:
        """The argument `scopes` of :meth:`texloom.graph.Graph.compile` for this storage."""
        return _SCOPES[self.storage]


__all__ = ["CompileOptions", "Storage"]
