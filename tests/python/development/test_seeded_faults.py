"""The faults that are seeded in the Metal driver: each must still find its place."""

import sys

import pytest
from tree_copy import ROOT

# Not before tests/fuzz, which has a module seeded_faults, too.
sys.path.append(str(ROOT / "tests/softmetal"))
from fault_list import DRIVER, FAULTS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_source_has_the_place_of_a_fault(fault):
    text = (ROOT / DRIVER / fault.source).read_text()
    assert fault.apply(text) != text
