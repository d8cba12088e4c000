"""Programs on Metal devices; on systems other than Apple's, on the software Metal."""

# ruff: noqa: N806  the names of tensors

import re

import numpy as np
import pytest
from metal_devices import metal_devices

import texloom as tvm
from texloom import te
from texloom.graph import Graph
from texloom.ops.convolution import convolution
from texloom_demo.ocr import models

THREAD, BLOCK = "threadIdx.x", "blockIdx.x"
DEVICES = [tvm.metal(i) for i in range(len(metal_devices()))]
if not DEVICES:
    pytest.skip("this build has no Metal driver", allow_module_level=True)

RNG = np.random.default_rng(7)


@pytest.fixture(params=DEVICES, ids=[str(device) for device in DEVICES])
def metal(request):
    return request.param


def results(function, device, inputs, outputs, scopes=()):
    """Run ``function`` on the device and return the outputs, given as pairs of shape and dtype."""
    scopes = dict(enumerate(scopes))
    arrays = [tvm.nd.array(x, device, scopes.get(i)) for i, x in enumerate(inputs)]
    made = [tvm.nd.empty(shape, dtype, device) for shape, dtype in outputs]
    function(*arrays, *made)
    return [array.numpy() for array in made]


def expect_the_interpreters_bits(s, args, metal, inputs, outputs, scopes=(), **options):
    """Build for the device, and compare its results with the interpreter's."""
    function = tvm.build(s, args, tvm.target.Target.from_device(metal), **options)
    wanted = results(function, tvm.device("host"), inputs, outputs, scopes)
    for got, want in zip(results(function, metal, inputs, outputs, scopes), wanted, strict=True):
        assert want.any()
        np.testing.assert_array_equal(got.view("uint8"), want.view("uint8"))


def test_numpy_arrays_go_to_a_device_of_the_target():
    """A call without arrays of a device chooses the first one that runs the function's kernels."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(THREAD))
    function = tvm.build(s, [x, y], "metal")
    np.testing.assert_array_equal(function(np.zeros(4, "float32")), np.ones(4, "float32"))


def test_devices_say_what_they_are(metal):
    info = metal_devices()[metal.device_id]
    assert metal.exist and info["driver"] == "metal" and info["images"]
    target = tvm.target.Target.from_device(metal)
    assert target.kind.name == "metal"


def test_more_arguments_than_slots(metal):
    """The arguments are in an argument buffer; constants have their own buffer."""
    n = te.var("n")
    xs = [te.placeholder((n, 4), name=f"x{i}") for i in range(140)]
    y = te.compute((n, 4), lambda i, j: sum(x[i, j] * (k + 1) for k, x in enumerate(xs)), name="y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    s[y].vectorize(y.op.axis[1])
    inputs = [RNG.standard_normal((3, 4)).astype("float32") for _ in xs]
    scopes = ["texture" if i % 3 else "global" for i in range(len(xs))]  # 47 buffers
    binds = {
        x: tvm.decl_buffer((n, 4), scope="texture")
        for x, scope in zip(xs, scopes, strict=True)
        if scope == "texture"
    }
    args = [*xs, y]
    expect_the_interpreters_bits(s, args, metal, inputs, [((3, 4), "float32")], scopes, binds=binds)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_elements_in_buffers(metal, dtype):
    n = 100
    x, y = (te.placeholder((n,), dtype, name=name) for name in "XY")
    z = te.compute((n,), lambda i: x[i] * y[i] + x[n - 1 - i], name="Z")
    s = te.create_schedule(z.op)
    block, thread = s[z].split(z.op.axis[0], 32)
    s[z].bind(block, te.thread_axis(BLOCK))
    s[z].bind(thread, te.thread_axis(THREAD))
    inputs = [(10 * RNG.normal(size=n)).astype(dtype) for _ in range(2)]
    expect_the_interpreters_bits(s, [x, y, z], metal, inputs, [((n,), dtype)])


def test_a_symbol_is_a_constant_of_the_kernel(metal):
    n = te.var("n")
    x = te.placeholder((n, 4), name="X")
    y = te.compute((n, 4), lambda i, j: x[n - 1 - i, j] * 3.0, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    s[y].bind(y.op.axis[1], te.thread_axis(THREAD))
    values = RNG.normal(size=(9, 4)).astype("float32")
    expect_the_interpreters_bits(s, [x, y], metal, [values], [((9, 4), "float32")])


def test_threads_share_memory(metal):
    """A matrix product whose tiles are in threadgroup memory."""
    n = 32
    a, b = (te.placeholder((n, n), name=name) for name in "AB")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    shared = [s.cache_read(t, "shared", [c]) for t in (a, b)]
    by, bx, ty, tx = s[c].tile(*c.op.axis, 8, 8)
    outer, _ = s[c].split(k, 8)
    threads = te.thread_axis((0, 8), "threadIdx.y"), te.thread_axis((0, 8), THREAD)
    s[c].reorder(by, bx, ty, tx, outer)
    s[c].bind(by, te.thread_axis("blockIdx.y"))
    s[c].bind(bx, te.thread_axis(BLOCK))
    s[c].bind(ty, threads[0])
    s[c].bind(tx, threads[1])
    for cache in shared:
        s[cache].compute_at(s[c], outer)
        s[cache].bind(s[cache].op.axis[0], threads[0])
        s[cache].bind(s[cache].op.axis[1], threads[1])
    inputs = [RNG.normal(size=(n, n)).astype("float32") for _ in range(2)]
    source = tvm.build(s, [a, b, c], "metal").kernels[0].source
    assert re.search(r"^ +threadgroup float ", source, re.M)
    expect_the_interpreters_bits(s, [a, b, c], metal, inputs, [((n, n), "float32")])


def test_a_convolution_reads_a_texture(metal):
    """Data and weights are copied to textures; the border is the padding."""
    C, H, W, K = 2, 6, 7, 3
    data = te.placeholder((C, H, W, 4), name="data")
    weight = te.placeholder((K, C, 3, 3, 4, 4), name="weight")

    def padded(c, y, x, lane):
        inside = te.all(y >= 1, y <= H, x >= 1, x <= W)
        return te.if_then_else(inside, data[c, y - 1, x - 1, lane], 0.0)

    pad = te.compute((C, H + 2, W + 2, 4), padded, name="pad")
    c, ky, kx, lane = (
        te.reduce_axis((0, n), name) for n, name in zip((C, 3, 3, 4), "cyxl", strict=True)
    )
    out = te.compute(
        (K, H, W, 4),
        lambda o, y, x, i: te.sum(
            pad[c, y + ky, x + kx, lane] * weight[o, c, ky, kx, lane, i], axis=[c, ky, kx, lane]
        ),
        name="out",
    )
    s = te.create_schedule(out.op)
    images = s.cache_read(data, "texture", [pad]), s.cache_read(weight, "texture:weight", [out])
    s[pad].compute_inline()
    for image in images:
        axes = s[image].op.axis
        fused = s[image].fuse(*axes[:-1])
        block, thread = s[image].split(fused, 16)
        s[image].bind(block, te.thread_axis(BLOCK))
        s[image].bind(thread, te.thread_axis(THREAD))
        s[image].vectorize(axes[-1])
    o, y, x, i = out.op.axis
    s[out].bind(o, te.thread_axis("blockIdx.y"))
    s[out].bind(y, te.thread_axis(BLOCK))
    s[out].bind(x, te.thread_axis(THREAD))
    s[out].reorder(c, ky, kx, lane, i)
    s[out].vectorize(i)
    inputs = [
        RNG.normal(size=shape).astype("float32") for shape in ((C, H, W, 4), (K, C, 3, 3, 4, 4))
    ]
    sources = [k.source for k in tvm.build(s, [data, weight, out], "metal").kernels]
    assert "access::write" in sources[0] and "texture2d<float" in sources[-1]
    expect_the_interpreters_bits(s, [data, weight, out], metal, inputs, [((K, H, W, 4), "float32")])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
def test_arguments_in_textures(metal, dtype):
    x = te.placeholder((5, 6, 4), dtype, name="X")
    y = te.compute((5, 6, 4), lambda i, j, k: x[4 - i, j, k] + x[i, 5 - j, k], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    s[y].bind(y.op.axis[1], te.thread_axis(THREAD))
    s[y].vectorize(y.op.axis[2])
    texture = tvm.decl_buffer((5, 6, 4), dtype, scope="texture")
    values = RNG.integers(0, 50, (5, 6, 4)).astype(dtype)
    expect_the_interpreters_bits(
        s, [x, y], metal, [values], [((5, 6, 4), dtype)], ["texture"], binds={x: texture}
    )


@pytest.mark.parametrize("scopes", ["global", "texture"])
def test_a_package_of_a_graph(metal, scopes):
    """Two convolutions; sums of small integers are exact."""

    def integers(*shape):
        return RNG.integers(-4, 5, shape).astype("float32")

    g = Graph("small")
    x = g.input("x", (1, 3, 6, 8))
    weights = [g.constant("w0", integers(8, 3, 3, 3)), g.constant("w1", integers(4, 8, 1, 1))]
    (a,) = g.op("a", "Conv", lambda d, w: convolution(d, w, pads=[1, 1, 1, 1]), [x, weights[0]])
    (y,) = g.op("y", "Conv", convolution, [a, weights[1]])
    g.output(y)
    compiled = g.compile(target=tvm.target.Target.from_device(metal), scopes=scopes)
    values = {"x": integers(1, 3, 6, 8)}
    wanted = compiled.run(values, tvm.device("host"))["y"]
    assert wanted.any()
    np.testing.assert_array_equal(compiled.run(values, metal)["y"], wanted)


def test_a_graph_runs_again(metal):
    """Kernels with argument buffers are recorded at the second run, and get the next inputs."""

    def integers(*shape):
        return RNG.integers(-2, 3, shape).astype("float32")

    g = Graph("chain")
    y = g.input("x", (1, 4, 6, 8))
    for n in range(6):
        weights = g.constant(f"w{n}", integers(4, 4, 1, 1))
        (y,) = g.op(f"y{n}", "Conv", convolution, [y, weights])
    g.output(y)
    target = tvm.target.Target(f"{tvm.target.Target.from_device(metal)} -max_buffers=1")
    compiled = g.compile(target=target)
    for _ in range(4):
        values = {"x": integers(1, 4, 6, 8)}
        (wanted,) = compiled.run(values, tvm.device("host")).values()
        assert wanted.any()
        (got,) = compiled.run(values, metal).values()
        np.testing.assert_array_equal(got, wanted)


def test_what_does_not_compile_is_told(metal):
    """If the compiler refuses a foreign function, the error has the compiler's message and line."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: tvm.tir.call_pure_extern("float32", "odd", x[i]), name="Y")
    s = te.create_schedule(y.op)
    s[y].pragma(y.op.axis[0], "import_c", "float odd(float x) { return not_there; }")
    s[y].bind(y.op.axis[0], te.thread_axis(THREAD))
    function = tvm.build(s, [x, y], tvm.target.Target.from_device(metal))
    with pytest.raises(tvm.TVMError, match=r"program_source:\d+(.|\n)*not_there"):
        results(function, metal, [np.ones(4, "float32")], [((4,), "float32")])


@pytest.mark.nightly  # clang compiles about 150 kernels
@pytest.mark.skipif(models.find() is None, reason="the networks are not installed: ./dev setup")
@pytest.mark.parametrize(
    ("name", "shape"), [("direction", (1, 3, 48, 192)), ("detection", (1, 3, 64, 64))]
)
@pytest.mark.parametrize("storage", ["buffer", "texture"])
def test_text_models_run(name, shape, storage):
    """Networks give the results that they give on OpenCL."""
    given = {"storage": storage, "shapes": {"x": shape}}
    device = DEVICES[0]
    target = tvm.target.Target.from_device(device)
    file = models.find()[name]
    x = np.random.default_rng(0).random(shape, "float32")
    (got,) = tvm.compile(file, target=target, **given).run({"x": x}, device).values()
    (want,) = tvm.compile(file, **given).run({"x": x}).values()
    # About 60 layers of sums of up to 2,000 products: errors grow as the root of their number.
    bound = 60 * 2000**0.5 * np.finfo("float32").eps
    assert np.abs(got - want).max() <= bound * np.abs(want).max()


def test_the_border_of_a_tile_in_shared_memory(metal):
    """A thread without a row adds up what no thread has written, and stores nothing."""
    a = te.placeholder((5, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")
    c = te.compute((5,), lambda i: te.sum(a[i, k], axis=k), name="C")
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    tile = s.cache_read(a, "shared", [sums])
    block, thread = s[c].split(s[c].op.axis[0], 4)
    s[c].bind(block, te.thread_axis(BLOCK))
    s[c].bind(thread, te.thread_axis(THREAD))
    s[sums].compute_at(s[c], thread)
    outer, _ = s[sums].split(s[sums].op.reduce_axis[0], 2)
    s[tile].compute_at(s[sums], outer)
    _, part = s[tile].split(s[tile].fuse(*s[tile].op.axis), 4)
    s[tile].bind(part, te.thread_axis(THREAD))
    x = np.arange(20, dtype="float32").reshape(5, 4)
    (got,) = results(tvm.build(s, [a, c], "metal"), metal, [x], [((5,), "float32")])
    assert (got == x.sum(1)).all()
