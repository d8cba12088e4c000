"""One package each of models as users have them, for three sizes, against onnxruntime."""

import numpy as np
import pytest
from one_package import checked


@pytest.mark.nightly
def test_a_detector(tmp_path):
    """The features of two sizes are joined, and the boxes that remain are read by their indices."""
    rng = np.random.default_rng(0)

    def weights(*shape):
        given = rng.uniform(-0.3, 0.3, shape).astype("float32").reshape(-1).tolist()
        return f"float{list(shape)} w{len(shape)}{shape[0]}{shape[1]} = {{{str(given)[1:-1]}}}"

    text = f"""(float[1, 3, h, w] x) => (boxes, scores)
        <{weights(8, 3, 3, 3)}, {weights(8, 8, 3, 3)}, {weights(5, 16, 1, 1)},
         int64[3] flat = {{1, 5, -1}}, int64[2] parts = {{4, 1}}, int64[1] zero = {{0}},
         int64[1] most = {{7}}, float[1] overlap = {{0.5}}, float[1] least = {{0.2}},
         int64 column = {{2}}> {{
        fine = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w483) a = Relu(fine)
        half = MaxPool<kernel_shape = [3, 3], strides = [2, 2], auto_pad = "SAME_UPPER">(a)
        coarse = Conv<auto_pad = "SAME_UPPER">(half, w488) sizes = Shape(a)
        wide = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric",
                      nearest_mode = "floor">(coarse, , , sizes)
        both = Concat<axis = 1>(a, wide) made = Conv(both, w4516) rows = Reshape(made, flat)
        corners, logits = Split<axis = 1>(rows, parts) every = Transpose<perm = [0, 2, 1]>(corners)
        certain = Sigmoid(logits)
        chosen = NonMaxSuppression<center_point_box = 1>(every, certain, most, overlap, least)
        index = Gather<axis = 1>(chosen, column) first = Squeeze(every, zero)
        boxes = Gather(first, index) one = Squeeze(certain, zero) own = Squeeze(one, zero)
        scores = Gather(own, index) }}"""
    images = [rng.uniform(-1, 1, (1, 3, *size)) for size in ((16, 16), (21, 34), (40, 9))]
    # Sums of 27, 72 and 16 products of magnitude below 1, each of which is rounded.
    error = (27 + 72 + 16) * 2.0**-23
    checked(tmp_path, text, [{"x": x.astype("float32")} for x in images], error=error)
