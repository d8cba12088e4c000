"""A fixed small part of the fuzzers in tests/fuzz, which run for longer from the command line."""

import random

import pytest
import round_trip
import two_readers


@pytest.mark.parametrize("seed", range(60))
def test_round_trip(dev, seed):
    round_trip.run_case(random.Random(seed), dev.device_id)


@pytest.mark.parametrize("seed", range(40))
def test_two_readers(dev, seed):
    two_readers.run_case(random.Random(seed), dev.device_id)
