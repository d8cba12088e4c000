"""cache_read, cache_write and set_scope: names, readers, scopes and their aliases."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(4).integers(-9, 9, size=(6, 8)).astype("float32")


def block():
    return te.thread_axis("blockIdx.x")


def two_readers(bound=True):
    """Return X, A, B and a schedule, where A and B read X."""
    x = te.placeholder((6, 8), name="X")
    a = te.compute((8, 6), lambda i, j: x[j, i] + 1, name="A")
    b = te.compute((6, 4), lambda i, j: x[5 - i, j * 2] * 2, name="B")
    s = te.create_schedule([a.op, b.op])
    for t in (a, b) if bound else ():
        s[t].bind(s[t].op.axis[0], block())
    return x, a, b, s


def expected_of_two():
    return VALUES.T + 1, VALUES[::-1, ::2] * 2


def check(run, s, x, a, b):
    for got, expected in zip(run(s, [x, a, b], VALUES), expected_of_two(), strict=True):
        np.testing.assert_array_equal(got, expected)


ALIASES = {
    "texture": ["texture", "global.texture"],
    "texture:weight": ["texture:weight", "global.texture-weight", "global.texture:weight"],
    "texture:nhwc": ["texture:nhwc", "global.texture-nhwc", "global.texture:nhwc"],
    "global": ["global", ""],
}


@pytest.mark.parametrize(("scope", "alias"), [(s, a) for s, both in ALIASES.items() for a in both])
def test_scope_spellings(scope, alias):
    """Existing scripts use the longer spellings; texts print one spelling."""
    x, a, b, s = two_readers()
    cache = s.cache_read(x, alias, [a, b])
    assert cache.name == f"X.{scope}"
    assert s[cache].scope == scope


def test_names_and_axes():
    x, a, b, s = two_readers(bound=False)
    first = s.cache_read(x, "shared", [a])
    second = s.cache_read(x, "local", [b])
    assert (first.name, second.name) == ("X.shared", "X.local")
    assert [axis.name for axis in s[first].op.axis] == ["ax0", "ax1"]
    assert [st.op.name for st in s.stages] == ["X", "X.local", "X.shared", "A", "B"]
    written = s.cache_write(a, "local")
    assert written.name == "A.local"
    assert [axis.name for axis in s[written].op.axis] == ["i.c", "j.c"]


@pytest.mark.parametrize("form", ["tensor", "operation", "list", "tuple", "mixed"])
def test_readers_in_every_form(form):
    x, a, b, s = two_readers()
    readers = {
        "tensor": a,
        "operation": a.op,
        "list": [a, b],
        "tuple": (a.op, b.op),
        "mixed": [a, b.op],
    }[form]
    cache = s.cache_read(x, "texture", readers)
    assert cache in s[a].op.input_tensors
    assert (cache in s[b].op.input_tensors) == (form in ("list", "tuple", "mixed"))


def test_both_readers_of_a_texture(run):
    """One kernel fills the texture; the readers' kernels read only the texture."""
    x, a, b, s = two_readers()
    cache = s.cache_read(x, "texture", [a, b])
    s[cache].bind(s[cache].op.axis[0], block())
    args = [[p["name"] for p in k.args] for k in tvm.build(s, [x, a, b]).kernels]
    assert args == [["X", "X.texture"], ["X.texture", "A"], ["X.texture", "B"]]
    check(run, s, x, a, b)


def test_one_reader_only(run):
    """The other reader still reads the tensor itself."""
    x, a, b, s = two_readers()
    cache = s.cache_read(x, "texture:weight", [b])
    s[cache].bind(s[cache].op.axis[0], block())
    args = {k.args[-1]["name"]: k.args[0]["name"] for k in tvm.build(s, [x, a, b]).kernels}
    assert args == {"X.texture:weight": "X", "A": "X", "B": "X.texture:weight"}
    check(run, s, x, a, b)


def test_a_cache_for_each_reader(run):
    """One tensor is stored in two textures with two layouts."""
    x, a, b, s = two_readers()
    for scope, reader in (("texture", a), ("texture:weight", b)):
        cache = s.cache_read(x, scope, [reader])
        s[cache].bind(s[cache].op.axis[0], block())
    assert len(tvm.build(s, [x, a, b]).kernels) == 4
    check(run, s, x, a, b)


def test_cache_of_a_cache(run):
    """The data goes from a texture into shared memory, and from there into registers."""
    x, a, b, s = two_readers()
    texture = s.cache_read(x, "texture", [a, b])
    s[texture].bind(s[texture].op.axis[0], block())
    shared = s.cache_read(texture, "shared", [a])
    local = s.cache_read(shared, "local", [a])
    s[shared].compute_at(s[a], s[a].op.axis[0])
    s[local].compute_at(s[a], s[a].op.axis[1])
    assert local.name == "X.texture.shared.local"
    check(run, s, x, a, b)


def test_two_reads_in_one_body(run):
    """All reads of the tensor in the body go to the cache, whatever their indices."""
    x = te.placeholder((6, 8), name="X")
    y = te.compute((6, 8), lambda i, j: x[i, j] - x[5 - i, 7 - j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    for t in (cache, y):
        s[t].bind(s[t].op.axis[0], block())
    assert s[y].op.input_tensors == [cache]
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES - VALUES[::-1, ::-1])


def test_cache_write(run):
    """The cache computes and the old stage copies, each with its own loops."""
    x, a, b, s = two_readers(bound=False)
    cache = s.cache_write(a, "local")
    for t in (a, b):
        s[t].bind(s[t].op.axis[0], block())
    outer, inner = s[a].split(s[a].op.axis[1], factor=2)
    s[cache].compute_at(s[a], outer)
    s[cache].unroll(s[cache].op.axis[1])
    s[a].vectorize(inner)
    check(run, s, x, a, b)


def test_cache_write_into_a_texture(run):
    """At the root, the cache is a separate texture, with a kernel that fills it."""
    x, a, b, s = two_readers(bound=False)
    cache = s.cache_write(a, "texture")
    for t in (cache, a, b):
        s[t].bind(s[t].op.axis[0], block())
    assert "write_image" in tvm.build(s, [x, a, b]).kernels[0].source
    check(run, s, x, a, b)


def test_set_scope_makes_a_stage_a_texture(run):
    """A computed tensor, not only a copy, can be stored in a texture."""
    x = te.placeholder((6, 8), name="X")
    p = te.compute((6, 8), lambda i, j: te.max(x[i, j], 0.0), name="P")
    y = te.compute((8, 6), lambda i, j: p[j, i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[p].set_scope("texture")
    for t in (p, y):
        s[t].bind(s[t].op.axis[0], block())
    assert "texture2d.store(P" in str(tvm.lower(s, [x, y]))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), np.maximum(VALUES, 0).T + 1)


def test_intermediate_tensor_as_argument(run):
    """A tensor among the arguments is stored in full, even if its readers need only a part."""
    x = te.placeholder((6, 8), name="X")
    p = te.compute((6, 8), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((3, 8), lambda i, j: p[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    for t in (p, y):
        s[t].bind(s[t].op.axis[0], block())
    got_y, got_p = run(s, [y, x, p], VALUES)
    np.testing.assert_array_equal(got_p, VALUES * 2)
    np.testing.assert_array_equal(got_y, VALUES[:3] * 2 + 1)


def test_only_what_is_read_is_cached(run):
    """A cache at the root has only the rows that readers need: here a texture of two rows."""
    x = te.placeholder((6, 8), name="X")
    y = te.compute((2, 8), lambda i, j: x[i + 3, j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture:weight", [y])
    for t in (cache, y):
        s[t].bind(s[t].op.axis[0], block())
    assert "texture2d<float32>[2, 8] 2 x 2 texels" in str(tvm.lower(s, [x, y]))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES[3:5])


def test_second_cache_of_one_scope_has_a_name_of_its_own():
    """A.shared, A.d.shared, A.d.d.shared."""
    a = te.placeholder((8,), name="A")
    readers = [te.compute((8,), lambda i: a[i] + n, name=f"B{n}") for n in range(3)]  # noqa: B023
    s = te.create_schedule([t.op for t in readers])
    names = [s.cache_read(a, "shared", [t]).op.name for t in readers]
    assert names == ["A.shared", "A.d.shared", "A.d.d.shared"]
    assert s.cache_read(a, "local", [s.stages[1].op]).op.name == "A.local"


@pytest.mark.parametrize(
    ("scope", "means"),
    [("warp", "shared"), *((f"wmma.{part}", "local") for part in ("matrix_a", "accumulator"))],
)
def test_scopes_of_a_warp(run, scope, means):
    """Scopes of a warp are accepted: warp memory becomes shared, a fragment becomes local."""
    a = te.placeholder((4, 8), name="A")
    b = te.compute((4, 8), lambda i, j: a[i, 7 - j] + 1, name="B")
    s = te.create_schedule(b.op)
    cache = s.cache_read(a, scope, [b])
    i, j = s[b].op.axis
    s[b].bind(i, te.thread_axis("blockIdx.x"))
    s[b].bind(j, te.thread_axis("threadIdx.x"))
    s[cache].compute_at(s[b], j)
    s[cache].bind(s[cache].op.axis[1], te.thread_axis("threadIdx.x"))
    assert s[cache].scope == means
    values = np.arange(32, dtype="float32").reshape(4, 8)
    np.testing.assert_array_equal(run(s, [a, b], values), values[:, ::-1] + 1)
