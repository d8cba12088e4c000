"""Functions that users compile by clang, and that kernels for processors call."""

import shutil
import subprocess

import numpy as np
import pytest

import texloom as tvm
from texloom import te
from texloom.target import has_llvm

CLANG = shutil.which("clang-19")
pytestmark = [
    pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built"),
    pytest.mark.skipif(CLANG is None, reason="clang-19 is not installed"),
]
GEMV = """
static float dot(const float* a, const float* b, int l) {
  float sum = 0;
  for (int j = 0; j < l; ++j) sum += a[j] * b[j];
  return sum;
}
int gemv_update(float* cc, const float* aa, const float* bb, int m, int l, int stride) {
  for (int i = 0; i < m; ++i) cc[i] += dot(aa, bb + i * stride, l);
  return 0;
}
int gemv_reset(float* cc, int m) {
  for (int i = 0; i < m; ++i) cc[i] = 0;
  return 0;
}
"""


def compiled(tmp_path, code, suffix, *options):
    """Compile C to LLVM's bitcode or text, and return the path."""
    source, made = tmp_path / "code.c", tmp_path / f"code{suffix}"
    source.write_text(code)
    form = ["-S"] if suffix == ".ll" else ["-c"]
    subprocess.run(
        [CLANG, "-O2", "-emit-llvm", *form, *options, str(source), "-o", str(made)], check=True
    )
    return made


def gemv(m, steps):
    """Declare the tensor intrinsic of TVM's tutorial."""
    a, b = te.placeholder((steps,), name="a"), te.placeholder((m, steps), name="b")
    k = te.reduce_axis((0, steps), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    left = tvm.tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1])
    right = tvm.tir.decl_buffer(
        b.shape, b.dtype, name="B", offset_factor=1, strides=[te.var("s1"), 1]
    )
    sums = tvm.tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1])

    def statements(ins, outs):
        (aa, bb), (cc,) = ins, outs

        def body():
            ib = tvm.tir.ir_builder.create()
            pointers = cc.access_ptr("rw"), aa.access_ptr("r"), bb.access_ptr("r")
            ib.emit(tvm.tir.call_extern("int32", "gemv_update", *pointers, m, steps, bb.strides[0]))
            return ib.get()

        ib = tvm.tir.ir_builder.create()
        ib.emit(tvm.tir.call_extern("int32", "gemv_reset", cc.access_ptr("w"), m))
        return body(), ib.get(), body()

    return te.decl_tensor_intrin(c.op, statements, binds={a: left, b: right, c: sums})


def tensorized(key, value, factor=16):
    """Return a schedule of a product whose rows the intrinsic computes, and its arguments."""
    left, right = te.placeholder((64, 32), name="A"), te.placeholder((48, 32), name="B")
    k = te.reduce_axis((0, 32), name="k")
    product = te.compute((64, 48), lambda i, j: te.sum(left[i, k] * right[j, k], axis=k), name="C")
    s = te.create_schedule(product.op)
    x, y = product.op.axis
    yo, yi = s[product].split(y, factor=factor)
    ko, ki = s[product].split(s[product].op.reduce_axis[0], factor=16)
    s[product].reorder(x, yo, ko, yi, ki)
    s[product].tensorize(yi, gemv(factor, 16))
    s[product].pragma(x, key, value)
    return s, [left, right, product]


@pytest.mark.parametrize("form", ["file.bc", "file.ll", "text"])
def test_a_tensorized_product_calls_imported_code(form, tmp_path):
    made = compiled(tmp_path, GEMV, ".bc" if form == "file.bc" else ".ll")
    value = made.read_text() if form == "text" else str(made)
    key = "import_llvm" if form == "text" else "import_library"
    s, args = tensorized(key, value)
    f = tvm.build(s, args, "llvm -mcpu=native")
    a, b = (
        np.random.default_rng(i).integers(-8, 8, n).astype("float32")
        for i, n in enumerate([(64, 32), (48, 32)])
    )
    np.testing.assert_array_equal(f(a, b), a @ b.T)
    assert "call i32 @gemv" not in f.get_source()  # the code is inlined
    f.export_library(str(tmp_path / "f.tlp"))
    made.unlink()
    again = tvm.runtime.load_module(str(tmp_path / "f.tlp"), native=True)
    np.testing.assert_array_equal(again(a, b), a @ b.T)


def refusal(key, value):
    s, args = tensorized(key, value)
    with pytest.raises(tvm.TVMError) as caught:
        tvm.build(s, args, "llvm")
    return str(caught.value)


def test_code_that_cannot_be_imported(tmp_path):
    assert "there is no file '/nowhere/code.bc'" in refusal("import_library", "/nowhere/code.bc")
    assert "has no library 'blas'" in refusal("import_library", "blas")
    broken = tmp_path / "broken.bc"
    broken.write_bytes(b"BC\xc0\xde" + bytes(60))
    assert "LLVM cannot read the file" in refusal("import_library", str(broken))
    assert "LLVM cannot read the text" in refusal("import_llvm", "define nonsense")
    lacks = compiled(tmp_path, "int other(void) { return 0; }", ".bc")
    assert "has no function 'gemv_" in refusal("import_library", str(lacks))
    code = GEMV.replace("int m, int l, int stride", "long m, int l, int stride")
    differs = compiled(tmp_path, code, ".bc")
    assert "'gemv_update' has other types" in refusal("import_library", str(differs))
    foreign = compiled(tmp_path, GEMV, ".bc", "--target=aarch64-linux-gnu")
    s, args = tensorized("import_library", str(foreign))
    with pytest.raises(tvm.TVMError, match="is for aarch64, and the kernels are for x86_64"):
        tvm.build(s, args, "llvm -mtriple=x86_64-linux-gnu")


def test_other_targets_have_no_such_code(tmp_path):
    s, args = tensorized("import_library", str(compiled(tmp_path, GEMV, ".bc")))
    s[args[-1]].bind(s[args[-1]].op.axis[0], te.thread_axis("blockIdx.x"))
    with pytest.raises(tvm.TVMError, match="TL2042"):
        tvm.build(s, args, "opencl")
