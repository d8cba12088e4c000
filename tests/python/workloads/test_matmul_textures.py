"""Matrix products in textures, (32, 64, 4) by (32, 64, 4): lanes have three different roles."""

import numpy as np
import pytest
from workloads import accuracy
from workloads.matmul import reference

from texloom import te
from texloom.examples.texel_matmul import FORMS, schedule

SHAPE = (32, 64, 4)


@pytest.mark.parametrize("copy", [False, True], ids=["direct", "local"])
@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_product_of_textures(run, form, copy):
    rng = np.random.default_rng(1)
    a, b = te.placeholder(SHAPE, name="A"), te.placeholder(SHAPE, name="B")
    c = form(a, b)
    s = schedule(form, a, b, c, copy)
    x, y = (rng.standard_normal(SHAPE, dtype="float32") for _ in range(2))
    got = run(s, [a, b, c], x, y)
    accuracy.assert_sums(got, reference(form, x, y, got.shape))
