"""Every operator with a body in the standard, drawn at random and compared with both references.

tests/onnx_bodies.py draws more, and counts what comes of it.
"""

import pytest
from function_bodies.nodes import DRAWERS, Draw, operators_with_bodies, outcome_of
from function_bodies.outcomes import RIGHT
from nightly import most_at_night


def test_every_operator_with_a_body_has_a_drawer():
    assert sorted(DRAWERS) == operators_with_bodies()


@pytest.mark.parametrize("seed", most_at_night(range(4), first=1))
@pytest.mark.parametrize(("domain", "op"), DRAWERS)
def test_a_node_computes_what_the_references_do(domain, op, seed):
    outcome = outcome_of(Draw(domain, op, seed).node())
    assert outcome.kind in RIGHT, outcome.why
