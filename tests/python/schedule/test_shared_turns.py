"""Arrays in shared memory that take turns, where the memory of a block is too small for all."""

import random
import re

import numpy as np
import pytest

import texloom
from texloom import te

ROWS, THREADS = 48, 16


def branches(seed):
    """Return a random schedule with branches, each of which sums up parts of rows.

    Returns the schedule, its arguments, an input, the bytes of all arrays in shared memory, and
    those if the parts, which threads scale in shared memory, take turns.
    """
    rng = random.Random(seed)
    length = rng.choice([24, 30, 64])
    x = te.placeholder((ROWS, length), "float32", name="x")
    dtypes = [rng.choice(["float32", "int32"]) for _ in range(rng.randint(1, 3))]
    dtypes.insert(0, dtypes[0])  # at least two arrays have one type
    stages = []
    for number, dtype in enumerate(dtypes):
        scale = rng.randint(1, 5)
        parts = te.compute(
            (ROWS, length),
            lambda i, j, f=scale, t=dtype: (x[i, j] * f).astype(t),
            name=f"parts{number}",
        )
        k = te.reduce_axis((0, length), name="k")
        own = te.compute(
            (ROWS,), lambda i, s=parts, k=k: te.sum(s[i, k], axis=k), name=f"sums{number}"
        )
        stages.append((parts, own))

    def total(i):
        """Add up sums of branches, of which other threads compute all but the first."""
        other = i - i % THREADS + THREADS - 1 - i % THREADS
        sums = [own[other if number else i] for number, (_, own) in enumerate(stages)]
        return sum(each.astype("float32") for each in sums)

    y = te.compute((ROWS,), total, name="y")
    s = te.create_schedule(y.op)
    block, thread = s[y].split(s[y].op.axis[0], THREADS)
    s[y].bind(block, te.thread_axis("blockIdx.x"))
    s[y].bind(thread, te.thread_axis("threadIdx.x"))
    sizes = []
    for (parts, own), dtype in zip(stages, dtypes, strict=True):
        s[own].set_scope("shared")
        s[own].compute_at(s[y], block)
        step = rng.choice([length, 8, 5])
        outer, inner = s[own].split(s[own].op.reduce_axis[0], step)
        s[own].reorder(outer, s[own].op.axis[0], inner)
        s[own].bind(s[own].op.axis[0], te.thread_axis("threadIdx.x"))
        s[parts].set_scope("shared")
        s[parts].compute_at(s[own], outer)
        _, lane = s[parts].split(s[parts].fuse(*s[parts].op.axis), THREADS)
        s[parts].bind(lane, te.thread_axis("threadIdx.x"))
        sizes.append((dtype, 4 * THREADS * step))
    apart = sum(size for _, size in sizes)
    least = sum(
        max((n for t, n in sizes if t == dtype), default=0) for dtype in ("float32", "int32")
    )
    sums = 4 * THREADS * len(stages)
    a = np.random.default_rng(seed).integers(-4, 5, (ROWS, length)).astype("float32")
    return s, [x, y], a, sums + apart, sums + least


@pytest.mark.parametrize("seed", range(8))
def test_arrays_take_turns(seed):
    """On a device, and in each version of the program, the sums are those without turns."""
    s, args, a, apart, least = branches(seed)
    target = "opencl -device=nvidia -conditional_barriers=0 -max_local_memory="
    plain = texloom.build(s, args, target + str(apart))
    assert declared(plain) == apart
    turns = texloom.build(s, args, target + str(least))
    assert declared(turns) == least < apart
    got = [texloom.nd.array(np.full(ROWS, np.nan, "float32")) for _ in (plain, turns)]
    for function, y in zip((plain, turns), got, strict=True):
        function(texloom.nd.array(a), y)
    assert np.isfinite(got[0].numpy()).all()
    np.testing.assert_array_equal(got[1].numpy(), got[0].numpy())
    seen = []
    program = texloom.program(s, args, target=target + str(least))
    texloom._core.run_versions(
        program, {}, [a.tobytes(), None], 1 << 22, lambda *each: seen.append(each)
    )
    names = [name for name, _, _ in seen]
    for name, reports, arrays in seen[names.index("insert_barriers.place_barriers") :]:
        assert not reports, (name, reports)
        np.testing.assert_array_equal(np.frombuffer(arrays[-1], "float32"), got[0].numpy(), name)


def declared(function):
    """Return the bytes of the arrays in shared memory that the source declares."""
    arrays = re.findall(r"__local (?:float|int)(\d*) \w+\[(\d+)\]", function.get_source())
    return sum(4 * int(lanes or 1) * int(count) for lanes, count in arrays)


def test_what_does_not_fit_in_turns_is_refused():
    s, args, _, _, least = branches(0)
    with pytest.raises(texloom.TVMError, match=f"TL4004.* need {least} bytes"):
        texloom.build(s, args, f"opencl -device=nvidia -max_local_memory={least - 1}")
