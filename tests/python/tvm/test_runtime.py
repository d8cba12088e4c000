"""Features beside te that scripts rely on: modules, arrays, devices, targets, contexts."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te
from texloom.errors import TexloomWarning


def scheduled(n):
    x = te.placeholder((n,), name="X")
    y = te.compute((n,), lambda i: x[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    return x, y, s


def doubled(n=8, name="double"):
    x, y, s = scheduled(n)
    return tvm.build(s, [x, y], "opencl", None, None, name)


def test_module(dev):
    """`m(...)`, `m["f"]`, `get_function` and `entry_func` give one function."""
    m = doubled()
    x, y = tvm.nd.array(np.arange(8, dtype="float32"), dev), tvm.nd.empty((8,), device=dev)
    for f in (m, m["double"], m.get_function("double"), m.entry_func):
        y[:] = 0
        f(x, y)
        np.testing.assert_array_equal(y.numpy(), np.arange(8) * 2)
    with pytest.raises(
        AttributeError, match="no function 'other'(.|\\n)*its only function is 'double'"
    ):
        m["other"]
    assert "void double_kernel0(" in m.imported_modules[0].get_source()


def test_time_evaluator(dev):
    m = doubled()
    x, y = tvm.nd.array(np.arange(8, dtype="float32"), dev), tvm.nd.empty((8,), device=dev)
    timer = m.time_evaluator(m.entry_name, dev, number=2, repeat=3, cooldown_interval_ms=1)
    times = timer(x, y)
    assert len(times.results) == 3 and times.min <= times.median <= times.max
    assert times.min <= times.mean <= times.max and times.std >= 0
    with pytest.raises(AttributeError, match="no function 'other'"):
        m.time_evaluator("other", dev)


def test_enqueue(dev):
    m = doubled()
    x, y = tvm.nd.array(np.arange(8, dtype="float32"), dev), tvm.nd.empty((8,), device=dev)
    m.enqueue(3, x, y)
    np.testing.assert_array_equal(y.numpy(), 2 * x.numpy())
    with pytest.raises(ValueError, match="times=0 is not positive"):
        m.enqueue(0, x, y)
    with pytest.raises(tvm.TVMError, match="is called with 1"):
        m.enqueue(1, x)


def test_arrays(dev):
    a = tvm.nd.array(np.arange(6, dtype="float64").reshape(2, 3), dev)
    assert a.dtype == "float64"  # NumPy's
    np.testing.assert_array_equal(a.asnumpy(), a.numpy())
    b = tvm.nd.empty((2, 3), "float64", dev)
    assert a.copyto(b) is b
    c = a.copyto(dev)
    b[:] = b.numpy() + 1
    np.testing.assert_array_equal(b.numpy(), c.numpy() + 1)
    with pytest.raises(ValueError, match="as a whole"):
        b[0] = 1
    np.testing.assert_array_equal(tvm.nd.from_dlpack(np.arange(3)).numpy(), [0, 1, 2])


def test_devices(dev):
    assert dev.exist and not tvm.opencl(1000).exist
    assert dev.device_type == 4 and dev.device_id == tvm.device("opencl", dev.device_id).device_id
    assert dev.device_name and dev.max_threads_per_block > 0
    assert len(dev.max_thread_dimensions) == 3 and dev.warp_size == 1
    assert dev.max_shared_memory_per_block > 0 and dev.texture_spatial_limit > 0
    dev.sync()


def test_devices_without_a_driver():
    """Devices without a driver do not exist; using them is an error that says so."""
    for absent in (tvm.cuda(), tvm.device("cuda"), tvm.vulkan(0)):
        assert not absent.exist
        with pytest.raises(tvm.TVMError, match="no driver for"):
            tvm.nd.array(np.zeros(2), absent)
    assert tvm.device("llvm -mcpu=x", 0) == tvm.cpu() and not tvm.cpu().exist
    assert str(tvm.cuda(1)) == "cuda(1)"
    with pytest.raises(ValueError, match="no device kind"):
        tvm.device("abacus")


def test_targets():
    target = tvm.target.Target({"kind": "opencl", "device": "adreno", "max_num_threads": 128})
    assert str(target) == "opencl -device=adreno -max_num_threads=128"
    assert target.kind.name == "opencl" and target.device_name == "adreno" and target.host is None
    assert "adreno" in target.keys and "gpu" in target.keys and target.max_num_threads == 128
    assert target.attrs["texture_spatial_limit"] > 0
    assert tvm.target.adreno() == tvm.target.create("opencl -device=adreno")
    assert str(tvm.target.mali("-contract=0")) == "opencl -device=mali -contract=0"
    assert tvm.target.Target.current() is None
    with target:
        assert tvm.target.Target.current() == target
    with pytest.raises(ValueError, match="no target"):
        tvm.target.Target.current(allow_none=False)


def test_threads_that_schedules_count_on():
    """Without an option, max_num_threads is TVM's default; build enforces a higher limit."""
    opencl, cuda = tvm.target.Target("opencl"), tvm.target.Target("cuda")
    assert (opencl.max_num_threads, cuda.max_num_threads) == (256, 1024)
    assert opencl.attrs["max_num_threads"] == 1024
    given = tvm.target.Target("opencl -max_num_threads=1024")
    assert given.max_num_threads == tvm.target.Target(given).max_num_threads == 1024


@pytest.mark.parametrize(
    ("given", "code"), [("opencl:0", "TL2040"), (None, "TL2040"), (tvm.cuda(), "TL5006")]
)
def test_targets_of_what_is_no_device(given, code):
    with pytest.raises(tvm.TVMError, match=code):
        tvm.target.Target.from_device(given)


@pytest.mark.parametrize("kind", ["llvm", "cuda"])
def test_arrays_under_a_target_without_kernels(kind):
    with tvm.target.Target(kind):
        np.testing.assert_array_equal(tvm.nd.array(np.arange(3.0)).numpy(), np.arange(3.0))


def test_remarks_of_targets():
    """Options that only describe a target can be queried, but change no kernel."""
    target = tvm.target.Target("opencl -model=sd855 -device=adreno -thread_warp_size=64")
    assert (target.model, target.thread_warp_size) == ("sd855", 64)
    assert target.device_name == "adreno" and tvm.target.Target(str(target)) == target
    assert tvm.target.Target("opencl").model == "unknown"
    assert tvm.target.Target("opencl").thread_warp_size == 1
    assert tvm.target.Target("cuda").thread_warp_size == 32
    assert tvm.target.Target("opencl -keys=mali,gpu").keys == ["mali", "gpu"]
    with target:
        assert doubled().target == "opencl"
    x, y, s = scheduled(8)
    assert tvm.build(s, [x, y], target).target == "opencl -device=adreno"


@pytest.mark.parametrize(
    "text",
    [
        "opencl --device=mali",
        "opencl ---device mali",
        "opencl -device mali",
        '{"kind": "opencl", "device": "mali"}',
        "opencl -host=llvm -libs=clml --device=mali",
        {"kind": "opencl", "device": "mali", "keys": ["mali", "gpu"], "host": {"kind": "llvm"}},
    ],
    ids=str,
)
def test_spellings_of_targets(text):
    target = tvm.target.Target(text)
    assert target.device_name == "mali" and target.max_num_threads == 256
    assert tvm.target.Target(str(target)) == target
    x, y, s = scheduled(8)
    assert tvm.build(s, [x, y], target).target == "opencl -device=mali"
    if "host" in str(text):
        assert target.host.kind.name == "llvm"


def test_values_of_targets_after_a_space():
    for text in (
        "opencl -max_num_threads 128 -libs clml",
        '{"kind":"opencl","max_num_threads":128}',
    ):
        target = tvm.target.Target(text)
        assert target.max_num_threads == 128
        x, y, s = scheduled(8)
        assert tvm.build(s, [x, y], text).target == "opencl -max_num_threads=128"
    assert tvm.target.Target("opencl -libs clml").attrs["libs"] == "clml"


def test_devices_without_a_preset():
    with pytest.warns(TexloomWarning, match="TL4003(.|\n)*no preset for the device 'powervr'"):
        target = tvm.target.Target("opencl -device=powervr -max_num_threads=128")
    assert target.device_name == "powervr" and target.keys == ["powervr", "opencl", "gpu"]
    x, y, s = scheduled(8)
    assert tvm.build(s, [x, y], target).target == "opencl -max_num_threads=128"


@pytest.mark.parametrize("text", ["rocm", "cuda -arch=sm_90", "c"])
def test_targets_without_kernels(text):
    """Targets without kernels can be created and queried; build refuses them."""
    target = tvm.target.Target(text)
    assert str(target) == text and target.kind.name == text.split()[0]
    assert ("gpu" in target.keys) is (target.kind.name != "c")
    x, y, s = scheduled(8)
    with pytest.raises(tvm.TVMError, match="TL4003(.|\n)*no kernels(.|\n)*help: use one of opencl"):
        tvm.build(s, [x, y], target)
    with target, pytest.raises(tvm.TVMError, match="TL4003"):
        tvm.lower(s, [x, y])


def test_lowered_programs_are_modules(dev):
    """`build` accepts what `lower` returns, with or without the target."""
    x, y, s = scheduled(8)
    lowered = tvm.lower(s, [x, y], name="f", target="opencl -device=pocl")
    assert isinstance(lowered, tvm.IRModule) and lowered["f"] is lowered
    with pytest.raises(ValueError, match="no function 'g'"):
        lowered["g"]
    for f in (tvm.build(lowered), tvm.build(lowered, target="opencl -device=pocl")):
        assert f.target == "opencl -device=pocl"
        a, b = tvm.nd.array(np.arange(8, dtype="float32"), dev), tvm.nd.empty((8,), device=dev)
        f(a, b)
        np.testing.assert_array_equal(b.numpy(), np.arange(8) * 2)
    assert tvm.build(lowered, target="opencl -device=mali").target == "opencl -device=mali"


def test_structural_equality():
    x, y = te.var("x"), te.var("y")
    assert tvm.ir.structural_equal(x + 1, x + 1) and not tvm.ir.structural_equal(x + 1, y + 1)
    assert tvm.ir.structural_equal([x, 2], [x, 2]) and not tvm.ir.structural_equal([x], [x, x])
    assert not tvm.ir.structural_equal("x", "x")  # neither an expression nor a program
    (*_, s), (*_, other) = scheduled(8), scheduled(9)
    first, again, longer = (lowered_of(t) for t in (s, s, other))
    assert tvm.ir.structural_equal(first, again) and not tvm.ir.structural_equal(first, longer)


def lowered_of(s):
    x, y = (stage.op.output(0) for stage in s.stages)
    return tvm.lower(s, [x, y])


def test_containers():
    x, y, s = scheduled(8)
    assert isinstance(y.shape, tvm.ir.container.Array)
    assert isinstance(y.op.axis, tvm.ir.container.Array)
    assert isinstance(s.bounds(), tvm.ir.container.Map)
    assert not isinstance("text", tvm.ir.container.Array)


def test_analyzer():
    analyzer, i = tvm.arith.Analyzer(), te.var("i")
    assert str(analyzer.simplify((i * 8 + 3) // 8)) == "i"
    assert str(analyzer.simplify(te.floormod(i, 4))) != "i" and not analyzer.can_prove(i < 4)
    analyzer.bind(i, tvm.ir.Range(0, 4))
    assert str(analyzer.simplify(te.floormod(i, 4))) == "i" and analyzer.can_prove(i < 4)
    with pytest.raises(TypeError, match="is not a variable"):
        analyzer.bind(i + 1, tvm.ir.Range(0, 4))
    with pytest.raises(tvm.TVMError, match="TL1001.*a range of 0 values"):
        analyzer.bind(i, tvm.ir.Range(4, 4))


def test_data_types():
    t = tvm.DataType("float32x4")
    assert (t.bits, t.lanes) == (32, 4) and t == "float32x4"
    assert tvm.DataType("bool").bits == 1 and tvm.DataType("uint8").lanes == 1
    for wrong in ("float", "int8x", "8", "float32 x4"):
        with pytest.raises(ValueError, match="not a dtype"):
            tvm.DataType(wrong)


def test_registered_functions():
    @tvm.register_func("test.add")
    def add(a, b):
        return a + b

    assert tvm.get_global_func("test.add") is add and add(1, 2) == 3
    with pytest.raises(ValueError, match="is registered as"):
        tvm.register_func("test.add", max)
    tvm.register_func("test.add", max, override=True)
    assert tvm.get_global_func("test.add") is max
    assert tvm.get_global_func("test.none", allow_missing=True) is None
    with pytest.raises(ValueError, match="no function is registered as 'test.none'"):
        tvm.get_global_func("test.none")


def test_names_of_the_error():
    from texloom._ffi.base import TVMError

    assert TVMError is tvm.TVMError is tvm.error.TVMError and issubclass(TVMError, RuntimeError)


def test_misuse_is_a_value_error():
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i], name="Y")
    s, other = te.create_schedule(y.op), te.compute((8,), lambda i: i, name="Z")
    for misuse in (
        lambda: s[y].split(y.op.axis[0]),
        lambda: s[y].split(y.op.axis[0], factor=2, nparts=2),
        lambda: s[other],
        lambda: te.thread_axis(),
        lambda: te.thread_axis((0, 4)),
    ):
        with pytest.raises(ValueError):
            misuse()


def test_values():
    assert tvm.runtime.convert(3).value == 3 and tvm.runtime.const(1.5, "float16").value == 1.5
    numbers = tvm.runtime.convert([1, (2.5, "word")])
    assert numbers[0].value == 1 and numbers[1][1].value == "word"
    assert tvm.runtime.enabled("opencl -device=mali") and not tvm.runtime.enabled("cuda")


def test_ranges():
    r = tvm.ir.Range(2, 6)
    assert (r.min.value, r.extent.value) == (2, 4) and r == tvm.ir.Range.from_min_extent(2, 4)
    assert tvm.ir.Range(3).extent.value == 3 and r != tvm.ir.Range(2, 5)


def test_pass_context():
    """PassContext keeps its config; keys that would change the program are refused."""
    config = {"tir.UnrollLoop": {"auto_max_step": 16}}
    with tvm.transform.PassContext(opt_level=3, config=config):
        assert tvm.transform.PassContext.current().config == config
        assert doubled().name == "double"
    assert tvm.transform.PassContext.current().config == {}
    with pytest.raises(ValueError, match=r"tir\.add_lower_pass"):
        tvm.transform.PassContext(config={"tir.add_lower_pass": []})


def test_passes_are_not_left_out_in_silence():
    with pytest.warns(
        tvm.TexloomWarning, match=r"disabled by tir\.Simplify, tir\.disable_vectorize"
    ):
        tvm.transform.PassContext(
            disabled_pass=["tir.Simplify"], config={"tir.disable_vectorize": True}
        )


def test_bounds_are_checked_in_a_context(dev):
    """The config key of TVM for bounds checks has the effect of `checked`."""
    x, n = te.placeholder((8,), name="X"), te.placeholder((8,), "int32", name="N")
    y = te.compute((8,), lambda i: x[n[i]], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    with tvm.transform.PassContext(config={"tir.instrument_bound_checkers": True}):
        f = tvm.build(s, [x, n, y], "opencl")
    arrays = [np.zeros(8, "float32"), np.full(8, 8, "int32"), np.zeros(8, "float32")]
    with pytest.raises(tvm.TVMError, match="TL5013"):
        f(*(tvm.nd.array(each, dev) for each in arrays))


def test_declared_buffers():
    declared = tvm.tir.decl_buffer((4, 4), "float16", scope="global.texture", data_alignment=64)
    assert declared.scope() == "texture" and declared.dtype == "float16"
    with pytest.raises(tvm.TVMError, match="TL2042.*data"):
        tvm.tir.decl_buffer((4, 4), data=te.var("p"))
    with pytest.raises(tvm.TVMError, match="TL2042.*the pointer of 'buffer'"):
        _ = declared.data
    with pytest.raises(tvm.TVMError, match="TL3034.*cannot take a pointer to this element type"):
        tvm.tir.decl_buffer((4, 4), "bool").access_ptr("r")


def test_arrays_of_the_host_are_no_arguments():
    x, y, s = scheduled(8)
    function = tvm.build(s, [x, y])
    on_host = tvm.nd.array(np.zeros(8, "float32"), tvm.cpu())
    with pytest.raises(tvm.TVMError, match=r"'X' is an array of cpu\(0\), which runs no kernels"):
        function(on_host, tvm.nd.empty((8,)))


def test_shape_of_an_array_that_cannot_be():
    with pytest.raises(tvm.TVMError, match=r"axis 0 of an array of shape \(-1\) has the extent -1"):
        tvm.nd.empty((-1,))
