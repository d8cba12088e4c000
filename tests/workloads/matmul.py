"""NumPy references for products of matrices whose elements are texels."""

import numpy as np

from texloom.examples.texel_matmul import inner_reduction, outer_product_lanes, vector_accumulators

from .accuracy import Sums

LANES = 4
SUBSCRIPTS = {
    outer_product_lanes: "ikv,jkw->ivjw",
    inner_reduction: "ikv,jkv->ij",
    vector_accumulators: "kiv,kjw->ivjw",
}


def reference(form, a, b, shape):
    terms = {outer_product_lanes: a.shape[1], vector_accumulators: a.shape[0]}
    subscripts = SUBSCRIPTS[form]

    def product(x, y):
        return np.einsum(subscripts, x, y, optimize=True).reshape(shape)

    return Sums.of(product, terms.get(form, a.shape[1] * LANES), a, b)
