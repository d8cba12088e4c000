"""Searches: no point is proposed twice, and a model that learns finds good points sooner."""

from dataclasses import dataclass

import numpy as np
import pytest

from texloom.ops.schedules.family import Space
from texloom.tuning.features import numbers_of, table_of
from texloom.tuning.search import SEARCHES, Searched


@dataclass(frozen=True)
class Knobs:
    rows: int
    columns: int
    storage: str
    unrolled: bool


SPACE = Space.of(
    (Knobs(1 << r, 1 << c, storage, unrolled), None)
    for r in range(8)
    for c in range(8)
    for storage in ("global", "texture")
    for unrolled in (False, True)
)


def seconds_of(knobs):
    """Return the time of a smooth machine, whose best point is not the default."""
    away = abs(np.log2(knobs.rows) - 5) + abs(np.log2(knobs.columns) - 2)
    return 1e-5 * (1 + away + (knobs.storage == "global") + 0.5 * knobs.unrolled)


def searched(facts, estimates=()):
    return Searched((None, facts), SPACE, SPACE.points[0], estimates)


def ran(name, trials, batch=8, seed=0, estimates=(), others=()):
    search, one = SEARCHES[name](seed), searched((64, 64), estimates)
    one.trials[one.default] = [seconds_of(one.default)]  # what a session measures first
    while len(one.trials) < trials:
        chosen = search.next(one, min(batch, trials - len(one.trials)), [one, *others])
        assert chosen and len(set(chosen)) == len(chosen)
        assert not any(each in one.trials for each in chosen)
        for knobs in chosen:
            one.trials[knobs] = [] if knobs.rows * knobs.columns > 4096 else [seconds_of(knobs)]
    return one


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_proposes_each_point_once(name):
    one = ran(name, len(SPACE))
    assert set(one.trials) == set(SPACE)
    assert SEARCHES[name](0).next(one, 8, [one]) == []
    assert one.best_seconds == min(map(seconds_of, SPACE))


def test_equal_seeds_give_equal_searches():
    for name in ("model", "random"):
        assert list(ran(name, 40, seed=3).trials) == list(ran(name, 40, seed=3).trials)
        assert list(ran(name, 40, seed=3).trials) != list(ran(name, 40, seed=4).trials)


def test_the_model_beats_random_points():
    """Of eight seeds, by the ratio to the best point after 48 of 256 trials."""
    best = min(map(seconds_of, SPACE))
    model, random = (
        [ran(name, 48, seed=seed).best_seconds / best for seed in range(8)]
        for name in ("model", "random")
    )
    assert np.mean(model) < np.mean(random)
    assert np.median(model) == 1


def test_the_model_learns_from_other_kernels():
    """A kernel of other facts was searched: its best knobs are among the first that are tried."""
    other = Searched((None, (128, 64)), SPACE, SPACE.points[0])
    for knobs in list(SPACE)[::2]:
        other.trials[knobs] = [2 * seconds_of(knobs)]
    best = min(map(seconds_of, SPACE))
    alone = ran("model", 9).best_seconds
    taught = ran("model", 9, others=[other]).best_seconds
    assert taught < alone and taught <= 1.5 * best


def test_estimates_come_first():
    estimates = [seconds_of(each) for each in SPACE]
    one = ran("model", 9, estimates=estimates)
    order = sorted(SPACE, key=seconds_of)
    assert list(one.trials)[1:7] == [each for each in order if each != SPACE.points[0]][:6]


def test_knobs_are_numbers():
    assert numbers_of(Knobs(8, 3, "texture", True))[:2] == [np.log2(9), 2.0]
    assert numbers_of((1, (3, None))) == [1.0, 2.0, -1.0]
    table = table_of([[1.0], [1.0, 2.0]])
    assert np.isnan(table[0, 1]) and table[1, 1] == 2
