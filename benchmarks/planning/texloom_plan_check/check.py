"""The check of a whole plan, and its verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .buffers import check_buffers
from .network import CheckError, read_network, require, whole
from .orders import in_order
from .places import check_arenas, check_images, check_places
from .proof import check_proof


@dataclass(frozen=True)
class Verdict:
    """A plan that is right. It is optimal if its size is the bound."""

    size: int
    lower_bound: int
    unit: str  # texels or bytes
    buffers: Verdict | None = None  # of the tensors in buffers, if there are any

    def __str__(self) -> str:
        word = f"at most {self.size / max(1, self.lower_bound):.3f} x the best plan"
        if self.size == self.lower_bound:
            word = "optimal"
        text = f"valid: {self.size} {self.unit}; no plan has under {self.lower_bound}: {word}"
        return text if self.buffers is None else f"{text}\nbuffers {self.buffers}"


def check(network: dict[str, Any], plan: dict[str, Any]) -> Verdict:
    """Check a plan and its proof.

    Parameters
    ----------
    network, plan : dict
        The contents of the two JSON files.

    Raises
    ------
    CheckError
        If the plan breaks a rule, or the proof does not show the bound.
    """
    try:
        views, reorder = "arenas" in plan, "order" in plan
        net = read_network(network, views)
        if reorder:
            net = in_order(net, [whole(n, "an operator") for n in plan["order"]])
        if views and network.get("one_arena"):
            net = replace(net, pairs=frozenset())
        if views:
            check_arenas(plan)
        else:
            check_images(net, plan)
        check_places(net, plan)
        bound = check_proof(net, plan, reorder)
        buffers = check_buffers(net, plan, reorder)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CheckError(f"malformed: {type(error).__name__}: {error}") from error
    unit = "bytes" if views else "texels"
    require(bound <= plan[unit], f"a bound of {bound} exceeds the plan's {plan[unit]}")
    in_buffers = None if buffers is None else Verdict(*buffers, "bytes")
    return Verdict(plan[unit], bound, unit, in_buffers)
