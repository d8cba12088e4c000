"""Products and convolutions by `simdgroup_matrix`, which the threads of a SIMD-group share."""

import numpy as np
import pytest
from fragment_kernels import TILES, check_convolution, product_of, small_integers
from metal_devices import metal_devices

import texloom

if not metal_devices():
    pytest.skip("this build has no Metal driver", allow_module_level=True)

TARGET = "metal -device=m1 -matrix_unit=simdgroup"
TYPES = ["float16", "float32"]
# Blocks of Metal do not see what others wrote.
WITHOUT_FENCE = {name: tile for name, tile in TILES.items() if not tile.has_one_kernel}


def check_product(shape, columns, tile, dtype, transposed=False):
    """Compare a product with NumPy's."""
    right = (*shape[:-2], shape[-1], columns)
    f = product_of(shape, right, tile, TARGET, dtype, transposed)
    assert f"simdgroup_matrix<{'half' if dtype == 'float16' else 'float'}, 8, 8>" in f.get_source()
    a, b = small_integers(*shape, dtype=dtype), small_integers(*right, seed=1, dtype=dtype)
    c = small_integers(columns, seed=2, dtype=dtype)
    want = np.maximum(a.astype("float32") @ b.astype("float32") + c, 0).astype(dtype)
    given = (a, np.swapaxes(b, -1, -2) if transposed else b, c, np.zeros_like(want))
    arrays = [texloom.nd.array(np.ascontiguousarray(each), texloom.metal(0)) for each in given]
    f(*arrays)
    np.testing.assert_array_equal(arrays[3].numpy(), want)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("tile", WITHOUT_FENCE.values(), ids=WITHOUT_FENCE)
def test_products(tile, dtype):
    """Rows and columns end inside of tiles, whose elements are all different."""
    check_product((45, 96), 24, tile, dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_batches(dtype):
    check_product((3, 20, 48), 32, TILES["slices"], dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_a_factor_may_be_transposed(dtype):
    check_product((24, 96), 40, TILES["groups"], dtype, transposed=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("tile", [TILES["parts"], TILES["pieces"]])
def test_convolutions(tile, dtype):
    f = check_convolution(9, 3, 2, 1, tile, TARGET, texloom.metal(0), dtype)
    assert "simdgroup_multiply_accumulate" in f.get_source()
