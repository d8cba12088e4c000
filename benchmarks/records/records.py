"""How long a database of many records takes to open, and to find the best trial.

    python benchmarks/records/records.py records.sqlite [--trials 1000000] [--subjects 2000]
    python benchmarks/records/records.py postgresql://user@host/database

Fills the database with random trials of made-up kernels on two devices, unless it has trials
already; then prints the median and the longest of some times, and exits with 1 if one is over its
limit: 100 ms to open the database, 10 ms to find the best trial of a kernel, 100 ms to find those
of a task by the beginning of its identity, and the costs of graphs.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from texloom.records import (
    Failure,
    Kind,
    MeasuredDevice,
    Place,
    Subject,
    Trial,
    Wanted,
    open_records,
)

DEVICES = [MeasuredDevice(name, "OpenCL", "1.0", "OpenCL C 3.0") for name in ("GPU A", "GPU B")]
TEXT = "compute sums(i0 < 1, i1 < 128, i2 < 384): float32 = reduce(sum, [k < 384], a * b)\n" * 8
REPEATS = 50
OPENING_SECONDS, BEST_SECONDS, LIST_SECONDS = 0.1, 0.01, 0.1
ONE_TASK, SITES = Wanted(task=f"{7:032x}"), Kind.CALL_SITE


def subject(number: int) -> Subject:
    """Return a made-up kernel, with a text and facts of usual lengths."""
    facts = f"Product(rows=128, columns={number}, steps=384, item=4, pitch=1536, batch=1)"
    task = f"{number:032x}"
    return Subject(Kind.KERNEL, task, TEXT + task, "opencl", "products in panels", facts, 1)


def trials(count: int, subjects: int) -> Iterator[Trial]:
    """Yield random trials, one in ten of which failed; those of a subject follow each other."""
    rng = random.Random(0)
    places = [Place(device, "a host", {"texloom": "0.1.0"}) for device in DEVICES]
    for number in range(count):
        knobs = {"rows": rng.randrange(1, 65), "vectors": rng.randrange(1, 9), "lanes": 16}
        best = rng.lognormvariate(-8, 1)
        result = {"times": tuple(best * rng.uniform(1, 1.1) for _ in range(7)), "runs": 10}
        failed = {"failure": Failure.DEVICE_COMPILE, "message": "error: too many registers"}
        yield Trial(
            subject(number * subjects // count),
            rng.choice(places),
            knobs,
            kernels=(f"{number:032x}",),
            phases={"host compile": 0.01, "first run": 0.2, "run": 0.1},
            **(failed if rng.random() < 0.1 else result),
        )


def timed(what: str, run: Callable[[], object], most_seconds: float) -> bool:
    """Print how long a function takes; return whether the median is below a limit."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    print(
        f"{what}: median {median(seconds) * 1e3:.1f} ms, first {seconds[0] * 1e3:.1f} ms, longest "
        f"{max(seconds) * 1e3:.1f} ms (at most {most_seconds * 1e3:.0f} ms)"
    )
    return median(seconds) <= most_seconds


def main() -> int:
    """Fill a database, and time it; return 1 if it is too slow."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("place", metavar="FILE|URL")
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--subjects", type=int, default=2000)
    options = parser.parse_args()
    with open_records(options.place, creates=True) as records:
        if next(records.bests(), None) is None:
            begin = time.monotonic()
            count = records.add_all(trials(options.trials, options.subjects))
            seconds = time.monotonic() - begin
            print(f"{count:,} trials added in {seconds:.0f} s, {seconds / count * 1e6:.0f} us each")

    def opened() -> None:
        open_records(options.place).close()

    rng = random.Random(1)
    is_fast = [timed("opening", opened, OPENING_SECONDS)]
    with open_records(options.place) as records:

        def best(device: MeasuredDevice | None) -> None:
            found = records.best(subject(rng.randrange(options.subjects)), device)
            assert found is not None and found.seconds is not None

        is_fast += [
            timed("best on a device", lambda: best(rng.choice(DEVICES)), BEST_SECONDS),
            timed("best on any device", lambda: best(None), BEST_SECONDS),
            timed("bests of a task", lambda: list(records.bests(ONE_TASK)), LIST_SECONDS),
            timed("costs of graphs", lambda: records.averages(SITES, DEVICES[0]), LIST_SECONDS),
        ]
        begin = time.perf_counter()
        count = sum(records.count().values())
        print(f"counting {count:,} trials: {time.perf_counter() - begin:.1f} s")
    return int(not all(is_fast))


if __name__ == "__main__":
    sys.exit(main())
