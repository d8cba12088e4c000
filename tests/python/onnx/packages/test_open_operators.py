"""Operators along open axes: one package serves all sizes, as onnxruntime computes them."""

from itertools import product

import numpy as np
import pytest
from nightly import most_at_night
from one_package import STORAGES, checked, indices, numbers, parsed

import texloom
from texloom.errors import TVMError

IMAGES = [{"x": numbers(1, 3, 9, 13)}, {"x": numbers(2, 3, 16, 8)}, {"x": numbers(1, 3, 5, 6)}]

# The pads with which rows and columns become multiples of 8.
TO_EIGHT = """
    eight = Constant<value_int = 8>() four = Constant<value_ints = [4]>()
    sizes = Shape(x) number = Shape<start = 2>(x) over = Mod(number, eight)
    missing = Sub(eight, over) after = Mod(missing, eight)
"""


@STORAGES
@pytest.mark.parametrize("mode", most_at_night(["edge", "constant", "reflect"], 1))
def test_pads_that_shapes_give(tmp_path, storage, mode):
    text = f"""(float[N, 3, h, w] x) => (y) <int64[6] none = {{0, 0, 0, 0, 0, 0}}> {{
        {TO_EIGHT} pads = Concat<axis = 0>(none, after) y = Pad<mode = "{mode}">(x, pads) }}"""
    checked(tmp_path, text, IMAGES, storage=storage)


def test_pads_as_pytorch_exports_them(tmp_path):
    """The pads of the last axes come first: they are reordered by a reversal and a transpose."""
    text = f"""(float[N, 3, h, w] x) => (y)
        <int64[2] pairs = {{-1, 2}}, int64[1] from = {{-1}}, int64[1] to = {{-9223372036854775807}},
         int64[1] rows = {{0}}, int64[1] all = {{-1}}, int64[1] one = {{1}},
         int64[5] none = {{0, 0, 0, 0, 0}}> {{
        {TO_EIGHT} first = Gather(after, one) given = Concat<axis = 0>(one, first, one, none)
        table = Reshape(given, pairs) turned = Slice(table, from, to, rows, from)
        columns = Transpose<perm = [1, 0]>(turned) pads = Reshape(columns, all)
        y = Pad(x, pads) }}"""
    checked(tmp_path, text, IMAGES)


@pytest.mark.nightly
def test_an_open_pad_may_be_negative_if_it_adds_constants(tmp_path):
    text = """(float[N, h] x) => (y) <int64[1] ten = {10}, int64[3] none = {0, 0, 0}> {
        h = Shape<start = 1>(x) after = Sub(ten, h) pads = Concat<axis = 0>(none, after)
        y = Pad<mode = "MODE">(x, pads) }"""
    feeds = [{"x": numbers(2, h)} for h in (3, 10, 14)]
    checked(tmp_path, text.replace("MODE", "constant"), feeds)
    with pytest.raises(TVMError, match="TL5003"):  # 14 elements would lose 4
        checked(tmp_path, text.replace("MODE", "edge"), feeds)


POOLS = ["AveragePool", "MaxPool", "AveragePool<count_include_pad = 1>"]


@STORAGES
@pytest.mark.parametrize("pool", most_at_night(POOLS, 1))
@pytest.mark.parametrize(
    ("mode", "kernel", "strides"),
    most_at_night(
        [("UPPER", [3, 3], [2, 2]), ("LOWER", [3, 2], [2, 2]), ("UPPER", [1, 2], [1, 1])], 1
    ),
)
def test_same_pooling(tmp_path, storage, pool, mode, kernel, strides):
    given = f'auto_pad = "SAME_{mode}", kernel_shape = {kernel}, strides = {strides}'
    op, _, more = pool.rstrip(">").partition("<")
    text = (
        f"(float[N, 3, h, w] x) => (y) {{ y = {op}<{', '.join(filter(None, [given, more]))}>(x) }}"
    )
    # A mean of 9 elements of magnitude 8, divided in one rounding.
    checked(tmp_path, text, IMAGES, storage=storage, error=8 * 2.0**-23)


@pytest.mark.nightly
def test_same_maxima_with_indices(tmp_path):
    text = """(float[N, 3, h, w] x) => (y, i) {
        y, i = MaxPool<auto_pad = "SAME_LOWER", kernel_shape = [2, 2], strides = [2, 2]>(x) }"""
    checked(tmp_path, text, IMAGES)


@STORAGES
@pytest.mark.parametrize("mode", most_at_night(["UPPER", "LOWER"], 1))
@pytest.mark.parametrize("kernel", most_at_night([[3, 3], [1, 1]], 1))
def test_same_convolution(tmp_path, storage, mode, kernel):
    shape = [4, 3, *kernel]
    count = int(np.prod(shape))
    weights = ", ".join(str(i % 5 - 2) for i in range(count))
    text = f"""(float[N, 3, h, w] x) => (y) <float{shape} weight = {{{weights}}}> {{
        y = Conv<auto_pad = "SAME_{mode}", strides = [2, 2]>(x, weight) }}"""
    checked(tmp_path, text, IMAGES, storage=storage)


@pytest.mark.nightly
def test_same_transposed_convolution(tmp_path):
    text = """(float[N, 3, h, w] x) => (y) <float[3, 1, 3, 3] weight = {%s}> {
        y = ConvTranspose<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, weight) }"""
    checked(tmp_path, text % ", ".join(str(i % 5 - 2) for i in range(27)), IMAGES)


ROWS = [{"x": numbers(2, n)} for n in (8, 18, 4)]


@STORAGES
def test_split_into_equal_parts(tmp_path, storage):
    """Before version 18, all parts are equal, so that they can be multiplied."""
    text = "(float[N, h] x) => (y) { a, b = Split<axis = 1>(x) y = Mul(a, b) }"
    checked(tmp_path, text, ROWS, opset=13, storage=storage)
    with pytest.raises(TVMError, match="TL5003"):
        checked(tmp_path, text, [{"x": numbers(2, 7)}], opset=13)


@pytest.mark.nightly
def test_split_with_a_shorter_last_part(tmp_path):
    text = "(float[N, h] x) => (a, b, c) { a, b, c = Split<axis = 1, num_outputs = 3>(x) }"
    checked(tmp_path, text, [{"x": numbers(2, h)} for h in (5, 7, 18)])


@pytest.mark.nightly
def test_split_into_sizes_that_shapes_give(tmp_path):
    text = """(float[N, h] x) => (a, b) <int64[1] three = {3}> {
        h = Shape<start = 1>(x) rest = Sub(h, three) sizes = Concat<axis = 0>(three, rest)
        a, b = Split<axis = 1>(x, sizes) }"""
    checked(tmp_path, text, ROWS)


def test_gathered_elements(tmp_path):
    """Along other axes than its own, the indices may be shorter than the tensor."""
    text = """(float[N, h, w] x, int64[M, k, v] i) => (y) { y = GatherElements<axis = 1>(x, i) }"""
    feeds = [
        {"x": numbers(*shape), "i": indices(shape[1], *fewer)}
        for shape, fewer in (((2, 5, 3), (2, 7, 3)), ((4, 9, 6), (1, 2, 5)))
    ]
    checked(tmp_path, text, feeds)
    with pytest.raises(TVMError, match="TL5003"):
        checked(tmp_path, text, [{"x": numbers(2, 5, 3), "i": indices(5, 3, 1, 3)}])


@pytest.mark.nightly
@pytest.mark.parametrize("batch", [0, 1])
def test_gathered_slices(tmp_path, batch):
    text = f"""(float[N, h, w] x, int64[N, k, 1] i) => (y) {{
        y = GatherND<batch_dims = {batch}>(x, i) }}"""
    feeds = [{"x": numbers(n, n + 3, 2), "i": indices(n, n, 4, 1)} for n in (2, 3)]
    checked(tmp_path, text, feeds)


SCATTERS = [(2, 5, 3), (3, 90, 4)]
REDUCTIONS = pytest.mark.parametrize("reduction", most_at_night(["add", "none", "max"], 1))


@REDUCTIONS
def test_scattered_elements(tmp_path, reduction):
    """Many updates of one element, in more updates than are searched one after another."""
    text = f"""(float[N, h, w] x, int64[N, k, v] i, float[N, k, v] u) => (y) {{
        y = ScatterElements<axis = 1, reduction = "{reduction}">(x, i, u) }}"""
    feeds = []
    for n, h, w in SCATTERS:
        shape = (n, 2 * h, w - 1)
        where = indices(h, *shape)
        if reduction == "none":  # onnxruntime defines no order of equal indices
            where = where[:, :1]
        feeds.append({"x": numbers(n, h, w), "i": where, "u": numbers(*where.shape, seed=1)})
    checked(tmp_path, text, feeds)


@pytest.mark.nightly
@REDUCTIONS
def test_scattered_slices(tmp_path, reduction):
    text = f"""(float[N, h, w] x, int64[k, 2] i, float[k, w] u) => (y) {{
        y = ScatterND<reduction = "{reduction}">(x, i, u) }}"""
    feeds = []
    for n, h, w in SCATTERS:
        where = np.stack([indices(n, 3 * h), indices(h, 3 * h, seed=1)], 1)
        if reduction == "none":
            where = np.unique(where % [n, h], axis=0)
        feeds.append({"x": numbers(n, h, w), "i": where, "u": numbers(len(where), w, seed=1)})
    checked(tmp_path, text, feeds)


def test_the_last_of_equal_updates_counts(tmp_path):
    text = """(float[h] x, int64[k] i, float[k] u) => (y) { y = ScatterElements(x, i, u) }"""
    texloom.compile(parsed(text)).save(tmp_path / "o.tlp")
    graph = texloom.graph.load(tmp_path / "o.tlp")
    for h, k in ((1, 1), (5, 64), (70, 500), (3, 2049)):
        x, where, updates = numbers(h), indices(h, k), np.arange(k, dtype="float32")
        wanted = x.copy()
        for place, update in zip(where, updates, strict=True):
            wanted[place] = update
        np.testing.assert_array_equal(graph.run({"x": x, "i": where, "u": updates})["y"], wanted)


@pytest.mark.parametrize(("axis", "largest"), most_at_night(product([1, 0], [1, 0]), 1))
def test_the_first_elements_in_order(tmp_path, largest, axis):
    """Along an open axis, runs of 32 elements are merged as often as its extent requires."""
    text = f"""(float[n, h] x) => (y, i) <int64[1] k = {{3}}> {{
        y, i = TopK<axis = {axis}, largest = {largest}>(x, k) }}"""
    feeds = [{"x": numbers(*shape)} for shape in ((3, 4), (5, 33), (64, 7), (3, 1100))]
    checked(tmp_path, text, feeds)


@pytest.mark.nightly
def test_the_first_elements_along_a_known_axis(tmp_path):
    text = """(float[n, 40, h] x) => (y, i) <int64[1] k = {3}> { y, i = TopK<axis = 1>(x, k) }"""
    checked(tmp_path, text, [{"x": numbers(2, 40, 3)}, {"x": numbers(5, 40, 1)}])


@pytest.mark.nightly
def test_as_many_first_elements_as_there_are(tmp_path):
    """Detectors take the best 100 boxes, or all of fewer boxes."""
    text = """(float[n, h] x) => (y, i) <int64[1] most = {100}> {
        h = Shape<start = 1>(x) k = Min(most, h) y, i = TopK(x, k) }"""
    checked(tmp_path, text, [{"x": numbers(2, n)} for n in (7, 100, 300)])


@pytest.mark.nightly
def test_more_first_elements_than_there_are(tmp_path):
    text = "(float[h] x) => (y, i) <int64[1] k = {3}> { y, i = TopK(x, k) }"
    with pytest.raises(TVMError, match="TL5003"):
        checked(tmp_path, text, [{"x": numbers(2)}])


TRANSFORMATIONS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
RESIZED = [(4, 6, 7, 9), (9, 5, 4, 10), (3, 8, 9, 8), (1, 1, 3, 2), (6, 5, 1, 1)]


@STORAGES
@pytest.mark.parametrize("mode", most_at_night(["linear", "nearest", "cubic"], 1))
@pytest.mark.parametrize("transformation", most_at_night(TRANSFORMATIONS, 1))
def test_resize_to_the_shape_of_another_tensor(tmp_path, storage, mode, transformation):
    rounding = 'nearest_mode = "floor",' if mode == "nearest" else ""
    text = f"""(float[N, 2, h, w] x, float[N, a, b] like) => (y) {{
        front = Shape<end = 2>(x) back = Shape<start = 1>(like)
        sizes = Concat<axis = 0>(front, back)
        y = Resize<mode = "{mode}", {rounding}
                   coordinate_transformation_mode = "{transformation}">(x, , , sizes) }}"""
    feeds = [{"x": numbers(1, 2, h, w), "like": numbers(1, a, b)} for h, w, a, b in RESIZED]
    # 16 taps of magnitudes up to 8 * 1.6, at coordinates up to 10 that onnxruntime rounds.
    error = (16 + 2 * 10 * 16) * 8 * 1.6 * 2.0**-24
    checked(tmp_path, text, feeds, storage=storage, error=error)


@pytest.mark.nightly
@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "ceil"])
def test_nearest_elements(tmp_path, rounding):
    text = f"""(float[h] x, float[a] like) => (y) {{ sizes = Shape(like)
        y = Resize<mode = "nearest", nearest_mode = "{rounding}">(x, , , sizes) }}"""
    feeds = [{"x": numbers(h), "like": numbers(a)} for h, a in product((1, 3, 8, 12), (2, 9, 16))]
    checked(tmp_path, text, feeds)


@pytest.mark.nightly
def test_taps_outside_have_no_weight(tmp_path):
    text = """(float[h, w] x, float[a, b] like) => (y) { sizes = Shape(like)
        y = Resize<mode = "cubic", exclude_outside = 1>(x, , , sizes) }"""
    feeds = [{"x": numbers(h, w), "like": numbers(a, b)} for h, w, a, b in RESIZED]
    checked(tmp_path, text, feeds, error=(4 + 2 * 10 * 4) * 8 * 1.6 * 2.0**-22)


@pytest.mark.nightly
def test_corners_aligned_by_a_scale(tmp_path):
    text = """(float[N, 2, h, w] x) => (y) <float[4] scales = {1, 1, 2, 1.5}> {
        y = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , scales)
    }"""
    feeds = [{"x": numbers(1, 2, h, w)} for h, w in ((4, 6), (7, 2), (1, 4))]
    checked(tmp_path, text, feeds, error=(4 + 2 * 10 * 4) * 8 * 2.0**-24)


def test_scales_that_are_quotients_of_extents(tmp_path):
    """Older exporters write the scales of a resize to another tensor's shape."""
    text = """(float[N, 2, h, w] x, float[N, a, b] like) => (y) <float[2] ones = {1, 1}> {
        have = Shape<start = 2>(x) want = Shape<start = 1>(like) above = Cast<to = 1>(want)
        below = Cast<to = 1>(have) by = Div(above, below) scales = Concat<axis = 0>(ones, by)
        y = Resize<mode = "linear">(x, , scales) }"""
    feeds = [{"x": numbers(1, 2, h, w), "like": numbers(1, a, b)} for h, w, a, b in RESIZED]
    checked(tmp_path, text, feeds, error=(4 + 2 * 10 * 4) * 8 * 2.0**-24)


@pytest.mark.parametrize("most", most_at_night([3, 2**62], 1))
def test_boxes_without_overlaps(tmp_path, most):
    text = f"""(float[N, boxes, 4] x, float[N, classes, boxes] s) => (y)
        <int64[1] most = {{{most}}}, float[1] overlap = {{0.3}}, float[1] least = {{0.2}}> {{
        y = NonMaxSuppression(x, s, most, overlap, least) }}"""
    feeds = []
    for n, classes, boxes in ((1, 2, 9), (2, 1, 40), (1, 3, 2)):
        rng = np.random.default_rng(boxes)
        corner = rng.uniform(0, 4, (n, boxes, 2))
        x = np.concatenate([corner, corner + rng.uniform(1, 2, (n, boxes, 2))], 2)
        s = rng.permutation(n * classes * boxes).reshape(n, classes, boxes) / (n * classes * boxes)
        feeds.append({"x": x.astype("float32"), "s": s.astype("float32")})
    checked(tmp_path, text, feeds)


@pytest.mark.nightly
def test_reversed_sequences(tmp_path):
    text = "(float[t, N, 2] x, int64[N] n) => (y) { y = ReverseSequence(x, n) }"
    feeds = [
        {"x": numbers(t, n, 2), "n": np.arange(n, dtype="int64") % t + 1}
        for t, n in ((1, 1), (4, 3), (7, 9))
    ]
    checked(tmp_path, text, feeds)


@pytest.mark.nightly
def test_one_hot_vectors_of_open_length(tmp_path):
    text = """(int64[k] i, float[h] like) => (y) <float[2] values = {0, 1}> {
        depth = Shape(like) y = OneHot(i, depth, values) }"""
    feeds = [{"i": indices(h, k), "like": numbers(h)} for h, k in ((1, 3), (4, 1), (9, 70))]
    checked(tmp_path, text, feeds)


@pytest.mark.nightly
def test_places_of_elements_that_hold(tmp_path):
    text = "(float[h] x, bool[h] held) => (y) { y = Compress<axis = 0>(x, held) }"
    feeds = [{"x": numbers(h), "held": numbers(h, seed=1) > 0} for h in (3, 40, 100)]
    checked(tmp_path, text, feeds)


@pytest.mark.parametrize(("axis", "in_order"), most_at_night(product(["", "axis = 1,"], [1, 0]), 2))
def test_distinct_elements(tmp_path, axis, in_order):
    text = f"""(float[h, w] x) => (y, i, k, n) {{
        y, i, k, n = Unique<{axis} sorted = {in_order}>(x) }}"""
    feeds = [{"x": numbers(*shape) // 6} for shape in ((2, 3), (1, 70), (3, 40))]
    checked(tmp_path, text, feeds)


def test_a_sequence_of_parts_whose_sizes_are_given(tmp_path):
    text = """(float[h] x) => (y) <int64[1] three = {3}, int64 last = {-1}> {
        h = Shape(x) rest = Sub(h, three) sizes = Concat<axis = 0>(three, rest)
        s = SplitToSequence(x, sizes) y = SequenceAt(s, last) }"""
    checked(tmp_path, text, [{"x": numbers(h)} for h in (4, 9, 20)])


STEPS = """(float[t, 2] x) => (y) { %s }"""
REFUSED = {
    "Scan": (
        """y = Scan<num_scan_inputs = 1, body = one_step (float[2] r) => (float q) {
            k = Constant<value_ints = [1]>() m = Add(x, r) v, i = TopK<axis = 0>(m, k)
            q = ReduceSum<keepdims = 0>(v) }>(x)""",
        "is computed in each step, but is not a te.compute",
    ),
    "SplitToSequence": (
        "s = SplitToSequence(x) zero = Constant<value_int = 0>() y = SequenceAt(s, zero)",
        "the axis 0 has the open extent t",
    ),
    "ScatterND": (
        "n = Cast<to = 7>(x) i = Transpose(n) y = ScatterND(x, i, x)",
        "whose last extent, the number of axes that a tuple selects, is not known",
    ),
    "ConstantOfShape": (
        "s = Shape(x) n = Gather(s, s) y = ConstantOfShape(n)",
        "it needs the elements of its input 0, which only a run computes",
    ),
}


@pytest.mark.parametrize("op", REFUSED)
def test_what_needs_numbers(tmp_path, op):
    """The message names the operator and the reason; a model compiles for each size as before."""
    nodes, reason = REFUSED[op]
    model = parsed(STEPS % nodes)
    compiled = texloom.compile(model)
    with pytest.raises(TVMError, match=f"{op} .*{reason}"):
        compiled.save(tmp_path / "open.tlp")
    assert reason in str(compiled.why_fixed)
