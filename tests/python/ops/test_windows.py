"""Windows of convolutions and of pooling."""

from itertools import product

from texloom.ops.windows import Windows


def elements(windows, element, extent, count):
    """Where an element of each window is, if inside of the tensor."""
    (stride,), (dilation,), (begin,) = windows.strides, windows.dilations, windows.begins
    places = [i * stride + element * dilation - begin for i in range(count)]
    return [(i, place) for i, place in enumerate(places) if 0 <= place < extent]


def test_elements_that_only_padding_meets():
    """Windows without them read the same elements, as many are there, and no padding is negative.

    Where an outer element is left that reads padding alone, there is too little padding to take.
    """
    removed = 0
    grid = product(range(1, 6), range(1, 5), range(1, 4), range(1, 5), range(7), range(7))
    for extent, kernel, stride, dilation, begin, end in grid:
        windows = Windows.of([kernel], [stride], [begin, end], [dilation])
        if extent + begin + end < windows.reach(0):
            assert windows.trimmed([extent]) == (windows, (slice(0, kernel),))
            continue
        (count,) = windows.counts([extent])
        made, (kept,) = windows.trimmed([extent])
        assert made.counts([extent]) == (count,)
        assert min(*made.begins, *made.ends) >= 0
        whole = [elements(windows, each, extent, count) for each in range(kernel)]
        left = [elements(made, each, extent, count) for each in range(*made.kernel)]
        assert whole[kept] == left
        assert not any(whole[: kept.start]) and not any(whole[kept.stop :])
        if len(left) > 1:
            assert left[0] or made.begins[0] < dilation
            assert left[-1] or made.ends[0] < dilation
        removed += kernel - len(left)
    assert removed > 1000
