"""TVM names outside `te` that scripts use, and their meaning here."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def test_homes_of_names():
    """A name reached through several modules is one object."""
    assert tvm._ffi.base.TVMError is tvm.TVMError
    assert tvm.driver.build is tvm.build
    assert te.schedule.create_schedule is te.create_schedule
    assert tvm.nd.cpu is tvm.runtime.cpu is tvm.cpu
    assert tvm.nd.device is tvm.runtime.device is tvm.device
    assert tvm.runtime.ndarray is tvm.nd


def test_assert_allclose(dev):
    a = np.array([1.0, 2.0], "float32")
    tvm.testing.assert_allclose(tvm.nd.array(a, dev), a)
    tvm.testing.assert_allclose(a, a * 1.001, rtol=1e-2)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        tvm.testing.assert_allclose(a, a * 1.001, rtol=1e-5)
    with pytest.raises(AssertionError, match="shapes differ"):
        tvm.testing.assert_allclose(a, np.float32(1))  # NumPy would broadcast


def test_tempdir():
    from texloom.contrib import utils

    with utils.tempdir() as folder:
        path = folder.relpath("a.txt")
        with open(path, "w", encoding="utf-8"):
            pass
        assert folder.listdir() == ["a.txt"] and path.startswith(folder.temp_dir)
    folder = tvm.contrib.utils.tempdir()
    folder.remove()
    with pytest.raises(FileNotFoundError):
        folder.listdir()


def test_equal_of_tensors():
    """equal() compares tensors without axes; with axes, the elements meant are ambiguous."""
    a, b = te.placeholder((), name="A"), te.placeholder((), name="B")
    assert str(a.equal(b)) == "A[] == B[]"
    with pytest.raises(ValueError, match="TL1002"):
        te.placeholder((4,), name="C").equal(b)


def test_shape_and_dtype_of_inputs():
    a = te.placeholder((4, 5), "int8", name="A")
    assert list(a.op.shape) == [4, 5] and a.op.dtype == "int8"
    b = te.compute((4,), lambda i: a[i, 0])
    assert not hasattr(b.op, "shape")


def test_targets_of_hosts():
    target = tvm.target.Target("opencl", host="llvm")
    assert target.host.kind.name == "llvm" and tvm.target.Target("opencl").host is None
    assert tvm.target.cuda().kind.name == "cuda"
    assert tvm.target.cuda("titanx").model == "titanx"


def test_pragma_keys_have_values():
    a = te.placeholder((4,), name="A")
    b = te.compute((4,), lambda i: a[i])
    s = te.create_schedule(b.op)
    axis = b.op.axis[0]
    s[b].pragma(axis, "auto_unroll_max_step", 4)
    (key,) = s[b].iter_var_attrs[axis].pragma_keys
    assert key.value == key == "auto_unroll_max_step"


def test_constant_bounds():
    n = te.var("n")
    analyzer = tvm.arith.Analyzer()
    analyzer.bind(n, tvm.ir.Range(2, 10))
    bound = analyzer.const_int_bound(n * 3)
    assert (bound.min_value, bound.max_value) == (6, 27)
    unknown = analyzer.const_int_bound(te.var("m", "int64"))
    assert (unknown.min_value, unknown.max_value) == (bound.NEG_INF, bound.POS_INF)
    assert str(analyzer.canonical_simplify(n - n)) == "0"
    assert str(analyzer.rewrite_simplify(n // 16)) == "0"


def test_operators_by_name():
    a, b = te.const(0b1100), te.const(0b1010)
    assert int(tvm.tir.bitwise_and(a, b)) == 0b1000
    assert int(tvm.tir.bitwise_or(a, b)) == 0b1110
    assert int(tvm.tir.bitwise_xor(a, b)) == 0b0110
    assert int(tvm.tir.bitwise_not(a)) == ~0b1100
    assert int(tvm.tir.shift_left(a, 1)) == 0b11000
    assert int(tvm.tir.shift_right(-a, 2)) == -3
    assert int(tvm.tir.ceildiv(a, 5)) == 3
    assert float(tvm.tir.infinity("float32")) == float("inf")


def test_extremes_of_bool():
    assert not bool(te.min_value("bool")) and bool(te.max_value("bool"))
    assert te.min_value("bool").dtype == "bool"


def test_devices_by_number():
    assert tvm.device(4, 0) == tvm.opencl(0)
    assert tvm.device(2, 1) == tvm.cuda(1)
    with pytest.raises(ValueError, match="no device kind '99'"):
        tvm.device(99)
    with pytest.raises(tvm.TVMError, match=r"cuda\(0\) cannot run kernels"):
        tvm.cuda(0).sync()


def test_calls_between_timed_runs_are_refused(dev):
    a = te.placeholder((4,), name="A")
    b = te.compute((4,), lambda i: a[i])
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
    f = tvm.build(s, [a, b])
    f.time_evaluator(f.entry_name, dev, f_preproc="")
    with pytest.raises(tvm.TVMError, match="TL2042.*f_preproc"):
        f.time_evaluator(f.entry_name, dev, f_preproc="cache_flush_cpu_non_first_arg")


def test_names_of_further_axes_are_counted():
    a = te.placeholder((4, 5), name="A")
    for names, said in ((["i"], "1 axis"), (["i", "j", "k"], "3 axes")):
        with pytest.raises(tvm.TVMError, match=f"names {said} with varargs"):
            te.compute((4, 5), lambda *i: a(*i), varargs_names=names)


def test_a_builder_ends_with_get():
    ib = tvm.tir.ir_builder.create()
    ib.get()
    with pytest.raises(ValueError, match="twice"):
        ib.get()


def test_extents_are_of_int32():
    """Constant extents of other integer types are converted; variables are refused."""
    a = te.placeholder((tvm.tir.IntImm("int64", 9),), name="A")
    assert a.shape[0].value == 9 and a.shape[0].dtype == "int32"
    n = te.var("n", "int64")
    for make in (te.placeholder, lambda shape: te.compute(shape, lambda i: i)):
        with pytest.raises(tvm.TVMError, match="extent n of dtype int64"):
            make((n,))
    with pytest.raises(tvm.TVMError, match="extent true"):
        te.placeholder((True,))


def test_constants_fold():
    assert (te.const(1.0) + te.const(2.0)).value == 3.0
    assert (te.const(0.1) * 3.0).value == float(np.float32(0.1) * np.float32(3))
    assert (te.const(1.0, "float64") / 3).value == 1 / 3
    assert not hasattr(te.const(3e38) * 10.0, "value")


def test_all_and_any_of_nothing():
    for function in (te.all, te.any):
        with pytest.raises(ValueError, match="at least one condition"):
            function()


def test_all_and_any_of_a_list():
    for function in (te.all, te.any):
        with pytest.raises(TypeError, match=rf"te\.{function.__name__}\(\*conditions\)"):
            function([te.var("n") > 1, te.var("m") > 2])


def test_inferred_range_is_a_domain():
    y = te.compute((8,), lambda i: i, name="Y")
    inferred = te.schedule.InferBound(te.create_schedule(y.op))[y.op.axis[0]]
    assert te.reduce_axis(inferred).dom.extent.value == 8


def test_reducers_under_tir():
    a, k = te.placeholder((4, 3), name="A"), te.reduce_axis((0, 3), name="k")
    for reducer in (tvm.tir.sum, tvm.tir.max, tvm.tir.min):
        assert reducer(a[0, k], axis=k).axis[0].same_as(k)
    assert tvm.tir.max(2, 3).value == 3
    assert tvm.tir.comm_reducer is te.comm_reducer


def test_domain_of_a_thread_axis():
    axis = te.thread_axis((2, 10), "threadIdx.x", "tx")
    assert (axis.dom.min.value, axis.dom.extent.value) == (2, 8)
    assert te.thread_axis(tvm.ir.Range(0, 4), "vthread").dom.extent.value == 4
    assert te.thread_axis("threadIdx.x").dom is None


def test_compilers_are_refused():
    from texloom.contrib import cc, nvcc

    for function in (cc.create_shared, cc.cross_compiler, nvcc.compile_cuda, nvcc.find_cuda_path):
        with pytest.raises(tvm.TVMError, match="TL2042"):
            function()


def test_dtypes_of_numpy(dev):
    """A NumPy dtype works wherever a dtype does."""
    for dtype in (np.float16, np.dtype("float16"), "float16"):
        x = te.placeholder((4,), dtype, name="X")
        assert x.dtype == te.var("n", dtype).dtype == te.const(1, dtype).dtype == "float16"
        assert x(0).astype(dtype).dtype == te.max_value(dtype).dtype == "float16"
        assert tvm.tir.call_pure_extern(dtype, "exp", 1.0).dtype == "float16"
        assert tvm.decl_buffer((4,), dtype).dtype == "float16"
        assert tvm.nd.empty((4,), dtype, dev).dtype == "float16"
    assert te.placeholder((4,), bool).dtype == "bool"
    assert te.placeholder((4,), np.int64).dtype == "int64"


def test_ends_of_bfloat16():
    assert te.max_value("bfloat16").value == 2.0**127 * (2 - 2.0**-7)
    assert te.min_value("bfloat16").value == -te.max_value("bfloat16").value


def test_devices_by_name():
    assert tvm.nd.array([1.0], "opencl").device == tvm.opencl(0)
    with pytest.raises(tvm.TVMError, match=r"TL5006.*cuda\(0\) cannot run kernels"):
        tvm.nd.empty((4,), device="cuda")


def test_import_into_a_module_is_refused():
    a = te.placeholder((4,), name="A")
    b = te.compute((4,), lambda i: a[i])
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
    f = tvm.build(s, [a, b])
    with pytest.raises(tvm.TVMError, match="TL2042.*import_module"):
        f.import_module(f)


def test_specialized_condition():
    n = te.var("n")
    assert te.SpecializedCondition.current() is None
    with te.SpecializedCondition([n > 3, n < 9]) as outer:
        assert [str(clause) for clause in outer.clauses] == ["n > 3", "n < 9"]
        with te.schedule.SpecializedCondition(n.equal(4)) as inner:
            assert te.SpecializedCondition.current() is inner and len(inner.clauses) == 1
        assert te.SpecializedCondition.current() is outer
    assert te.SpecializedCondition.current() is None
