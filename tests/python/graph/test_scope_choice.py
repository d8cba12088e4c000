"""The choice of storages is as cheap as the choice that integer programming finds."""

import random

import highspy
import pytest

from texloom import _core


def random_problem(rng, nodes):
    """Return conversions by tensor, and the options of each node, of a random graph."""
    conversions, options = [], []
    for n in range(nodes):
        storages = rng.randint(1, 3)
        table = [
            [0.0 if a == b else rng.uniform(1, 9) for b in range(storages)] for a in range(storages)
        ]
        conversions.append(table)
        inputs = rng.sample(range(max(0, n - 6), n), min(rng.randint(1, 3), n, 6))
        own = []
        for _ in range(rng.randint(1, 4)):
            reads = [(each, rng.randrange(len(conversions[each]))) for each in inputs]
            written = rng.sample(range(storages), rng.randint(1, min(2, storages)))
            own.append((rng.uniform(1, 20), reads, [(n, s) for s in written]))
        options.append(own)
    return conversions, options


def least_cost(conversions, nodes):
    """Return the least cost, by integer programming.

    There is a variable for each option, and one for each conversion of a tensor from a storage in
    which it is written to another, which all readers share.
    """
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    chosen = [[highs.addBinary() for _ in options] for options in nodes]
    written, converted = {}, {}
    cost = 0
    for variables, options in zip(chosen, nodes, strict=True):
        highs.addConstr(sum(variables) == 1)
        for variable, (own, _, writes) in zip(variables, options, strict=True):
            cost += own * variable
            for write in writes:
                written[write] = written.get(write, 0) + variable
    for tensor, table in enumerate(conversions):
        for to in range(len(table)):
            for origin in range(len(table)):
                if origin != to and (tensor, origin) in written:
                    variable = highs.addBinary()
                    highs.addConstr(variable <= written[tensor, origin])
                    converted.setdefault((tensor, to), []).append(variable)
                    cost += table[origin][to] * variable
    for variables, options in zip(chosen, nodes, strict=True):
        for variable, (_, reads, _) in zip(variables, options, strict=True):
            for read in reads:
                there = sum(converted.get(read, [])) + written.get(read, 0)
                highs.addConstr(variable <= there)
    highs.minimize(cost)
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return highs.getObjectiveValue()


@pytest.mark.parametrize("part", range(4))
def test_the_choice_is_as_cheap_as_integer_programming_finds(part):
    rng = random.Random(part)
    for number in range(50):
        conversions, nodes = random_problem(rng, rng.randint(8, 24))
        options, cost, bound = _core.choose_options(conversions, nodes, [])
        assert bound == cost, number
        assert len(options) == len(nodes)
        # HiGHS accepts a violation of 1e-6 in each constraint.
        assert cost == pytest.approx(least_cost(conversions, nodes), rel=1e-5), number
