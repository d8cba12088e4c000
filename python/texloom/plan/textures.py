"""Plans of memory for networks: textures, and buffers beside them."""

from __future__ import annotations

from typing import Any

from .._core import DEFAULT_PLAN_EFFORT, plan_texture_views, plan_textures
from .network import with_operators
from .scopes import add_buffers, buffers_of, check_buffers, textures_of

MODES = ("images", "views", "one_per_tensor", "grow")


def plan_network(
    network: dict[str, Any],
    *,
    mode: str = "images",
    effort: int = DEFAULT_PLAN_EFFORT,
    time_limit: float | None = None,
    reorder: bool = False,
) -> dict[str, Any]:
    """Plan a network, as :func:`~texloom.plan.network.network_of` returns it.

    Parameters
    ----------
    network : dict
        The tensors and the rules.
    mode : str
        One of ``MODES``; ``docs/planning.md`` describes them.
    effort : int
        Millions of steps of the search. Without a time limit, equal efforts give equal plans.
    time_limit : float | None
        Seconds, after which the best plan so far is taken.
    reorder : bool
        Whether independent operators may change their order.

    Returns
    -------
    dict
        The plan, as ``texloom plan --json`` writes it.

    Raises
    ------
    ValueError
        If no plan exists, or an option is out of range; the message has a line ``help:``.
    """
    if reorder:
        network = with_operators(network)
    check_buffers(network)
    textures = textures_of(network)
    if mode == "views":
        result = plan_texture_views(textures, effort, time_limit, reorder)
        keys = ("arenas", "placements", "bytes", "lower_bound_bytes")
    else:
        result = plan_textures(textures, mode, effort, time_limit, reorder)
        keys = ("images", "placements", "texels", "lower_bound_texels")
    plan = {key: result[key] for key in keys}
    plan["proof"] = {"parts": result["bounds"]}
    plan["deterministic"] = result["deterministic"]
    if reorder:
        plan["order"] = result["order"]
    if result["lost_exact"]:
        plan["lost_exact"] = result["lost_exact"]
    if buffers_of(network):
        plan = add_buffers(network, plan, effort, time_limit)
    return plan
