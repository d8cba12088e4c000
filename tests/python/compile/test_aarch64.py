"""Networks that are compiled here for aarch64, in programs for it that run under qemu.

The programs have the runtime with the driver `host` alone, which `./dev aarch64` builds.
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from llvm_plugin import has_llvm
from onnx.reference import ReferenceEvaluator

import texloom
from texloom import te
from texloom.ops import tiled
from texloom.target import mmt4d_tile

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build/aarch64"
LIBRARIES = [BUILD / f"src/{name}/libtexloom_{name}.a" for name in ("runtime", "plan", "support")]
MAX_BYTES = 1 << 20
# With the C library, too.
MAX_STATIC_BYTES = 3 << 19

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built"),
    pytest.mark.skipif(
        not (shutil.which("qemu-aarch64") and all(each.is_file() for each in LIBRARIES)),
        reason="there is no runtime or emulator for aarch64: ./dev aarch64",
    ),
]

# Runs the package argv[1] on the arrays in the files argv[3] and on, and writes the file argv[2].
# Without NETWORKS the kernels are those of the package.
PROGRAM = r"""
#include <texloom/runtime/drivers/host/driver.h>
#include <texloom/runtime/executor/executor.h>
#include <texloom/runtime/executor/load_graph.h>
#include <texloom/runtime/package/package_file.h>
#ifdef NETWORKS
#include "networks.h"
#define DRIVER_OPTIONS {.linked = {NETWORKS}}
#else
#include <texloom/runtime/drivers/host/native_objects.h>
#define DRIVER_OPTIONS {.loaders = {hal::host::make_native_loader()}}
#endif

#include <cstdio>
#include <vector>

namespace hal = texloom::hal;
namespace runtime = texloom::runtime;

static texloom::Status run(char** argv) {
  TL_ASSIGN_OR_RETURN(const auto device, hal::host::create_driver(DRIVER_OPTIONS)->open(0));
  TL_ASSIGN_OR_RETURN(const auto file,
                      runtime::PackageFile::open(argv[1], {.kernels = {.takes_native = true}}));
  TL_ASSIGN_OR_RETURN(const auto graph, runtime::load_graph(device, file));
  TL_ASSIGN_OR_RETURN(const auto executor,
                      runtime::Executor::create(graph.program, graph.interface));
  std::vector<std::byte> values;
  for (std::uint32_t i = 0; argv[3 + i] != nullptr; ++i) {
    values.resize(1 << 20);
    std::FILE* in = std::fopen(argv[3 + i], "rb");
    values.resize(std::fread(values.data(), 1, values.size(), in));
    std::fclose(in);
    TL_RETURN_IF_ERROR(executor->set_input(i, values));
  }
  TL_RETURN_IF_ERROR(executor->run());
  TL_ASSIGN_OR_RETURN(const std::uint64_t bytes, executor->output_bytes(0));
  values.resize(bytes);
  TL_RETURN_IF_ERROR(executor->get_output(0, values));
  std::FILE* out = std::fopen(argv[2], "wb");
  std::fwrite(values.data(), 1, values.size(), out);
  std::fclose(out);
  return {};
}

int main(int, char** argv) {
  const texloom::Status status = run(argv);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
"""

CNN = """<ir_version: 9, opset_import: ["" : 20]> cnn (float[1, 3, 32, 32] x) => (float[1, 10] y) {
  a = Conv <pads = [1, 1, 1, 1]> (x, first)
  b = Relu(a)
  c = Conv <pads = [1, 1, 1, 1], strides = [2, 2], group = 8> (b, depthwise)
  d = Relu(c)
  e = Conv(d, pointwise)
  f = MaxPool <kernel_shape = [4, 4], strides = [4, 4]> (e)
  g = Flatten(f)
  y = Gemm(g, last, bias)
}"""
CNN_WEIGHTS = {
    "first": (8, 3, 3, 3),
    "depthwise": (8, 1, 3, 3),
    "pointwise": (16, 8, 1, 1),
    "last": (256, 10),
    "bias": (10,),
}

TRANSFORMER = """<ir_version: 9, opset_import: ["" : 20]>
layer (float[1, 16, 32] x) => (float[1, 16, 32] y)
<int64[4] split = {1, 16, 4, 8}, int64[3] joined = {1, 16, 32}, float scale = {0.35355339}> {
  n = LayerNormalization <axis = -1> (x, gain, shift)
  q0 = MatMul(n, wq)
  k0 = MatMul(n, wk)
  v0 = MatMul(n, wv)
  q1 = Reshape(q0, split)
  k1 = Reshape(k0, split)
  v1 = Reshape(v0, split)
  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k = Transpose <perm = [0, 2, 3, 1]> (k1)
  v = Transpose <perm = [0, 2, 1, 3]> (v1)
  s0 = MatMul(q, k)
  s1 = Mul(s0, scale)
  s = Softmax <axis = -1> (s1)
  o0 = MatMul(s, v)
  o1 = Transpose <perm = [0, 2, 1, 3]> (o0)
  o2 = Reshape(o1, joined)
  o = MatMul(o2, wo)
  r = Add(x, o)
  m = LayerNormalization <axis = -1> (r, gain, shift)
  h0 = MatMul(m, up)
  h = Gelu(h0)
  f = MatMul(h, down)
  y = Add(r, f)
}"""
TRANSFORMER_WEIGHTS = {
    "gain": (32,),
    "shift": (32,),
    **dict.fromkeys(("wq", "wk", "wv", "wo"), (32, 32)),
    "up": (32, 128),
    "down": (128, 32),
}

# Scales are powers of two, so that each requantization is exact but for its one rounding.
QUANTIZED = """<ir_version: 9, opset_import: ["" : 20]>
quantized (float[1, 8, 8, 8] x) => (float[1, 32] y)
<float fine = {0.0625}, float coarse = {2}, int8 zero = {0}> {
  xq = QuantizeLinear(x, fine, zero)
  xd = DequantizeLinear(xq, fine, zero)
  first = DequantizeLinear(first_q, fine, zero)
  a = Conv <pads = [1, 1, 1, 1]> (xd, first)
  b = Relu(a)
  bq = QuantizeLinear(b, coarse, zero)
  bd = DequantizeLinear(bq, coarse, zero)
  second = DequantizeLinear(second_q, fine, zero)
  c = Conv(bd, second)
  cq = QuantizeLinear(c, coarse, zero)
  cd = DequantizeLinear(cq, coarse, zero)
  d = GlobalAveragePool(cd)
  y = Flatten(d)
}"""


def with_weights(text, weights):
    model = onnx.parser.parse_model(text)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name) for name, value in weights.items()
    )
    return model


TARGET = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"
# Micro-kernels, with the instruction that each is there for.
PRODUCTS = {
    "dot": (TARGET, "int8", "sdot"),
    "i8mm": (f"{TARGET} -mattr=+i8mm", "int8", "smmla"),
    "sve": (f"{TARGET} -mattr=+sve", "float32", "ld1w"),
}


def networks():
    """Name -> (model, input). Sums of the first and the last are exact in any order."""
    rng = np.random.default_rng(7)
    small = {n: rng.integers(-1, 2, s).astype("float32") for n, s in CNN_WEIGHTS.items()}
    drawn = {
        n: rng.normal(0, s[0] ** -0.5, s).astype("float32") for n, s in TRANSFORMER_WEIGHTS.items()
    }
    bytes_ = {
        "first_q": rng.integers(-128, 128, (16, 8, 3, 3), "int8"),
        "second_q": rng.integers(-128, 128, (32, 16, 1, 1), "int8"),
    }
    pixels = rng.integers(-3, 4, (1, 3, 32, 32)).astype("float32")
    words = rng.normal(size=(1, 16, 32)).astype("float32")
    features = (rng.integers(-128, 128, (1, 8, 8, 8)) / 16).astype("float32")
    return {
        "cnn": (with_weights(CNN, small), pixels),
        "layer": (with_weights(TRANSFORMER, drawn), words),
        "quantized": (with_weights(QUANTIZED, bytes_), features),
    }


def product(target, dtype):
    """Compile a product of two matrices of 40 x 72, the right one transposed, by a micro-kernel."""
    tile = mmt4d_tile(dtype, rows=40, target=target)
    a = te.placeholder((40, 72), dtype, name="A")
    b = te.placeholder((40, 72), dtype, name="B")
    c = tiled.unpack(
        tiled.mmt4d(tiled.pack(a, tile.m0, tile.k0), tiled.pack(b, tile.n0, tile.k0)), 40, 40
    )
    return texloom.build(tiled.schedule_mmt4d(c, target), [a, b, c], target, name="product")


def command(*words, status=0):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stderr


def link(folder, name, *words):
    (folder / "main.cc").write_text(PROGRAM)
    include = ["-I", BUILD / "include", "-I", folder]
    options = ["-std=c++20", "-Os", "-Wall", "-Werror", "-Wl,--gc-sections", "-pthread", "-s"]
    program = folder / name
    command(
        "aarch64-linux-gnu-g++", *options, *include, folder / "main.cc", *words, *LIBRARIES,
        "-ldl", "-lm", "-o", program,
    )  # fmt: skip
    return program


@pytest.fixture(scope="module")
def compiled():
    graphs = {name: texloom.compile(model, TARGET) for name, (model, _) in networks().items()}
    layer = networks()["layer"][0]
    graphs["layer_sve"] = texloom.compile(layer, PRODUCTS["sve"][0])
    return graphs | {name: product(*each[:2]) for name, each in PRODUCTS.items()}


@pytest.fixture(scope="module")
def program(compiled, tmp_path_factory):
    """A static program that has the kernels of all networks and products."""
    folder = tmp_path_factory.mktemp("aarch64")
    for name, each in compiled.items():
        each.save(folder / f"{name}.o")
    (folder / "networks.h").write_text("".join(f'#include "{name}.h"\n' for name in compiled))
    pointers = ", ".join(f"&texloom_{name}" for name in compiled)
    objects = [folder / f"{name}.o" for name in compiled]
    return link(folder, "linked", "-static", f"-DNETWORKS={pointers}", *objects)


def outputs(program, package, *arrays, dtype="float32"):
    folder = program.parent
    files = [folder / f"in{i}" for i in range(len(arrays))]
    for file, array in zip(files, arrays, strict=True):
        array.tofile(file)
    emulator = ["qemu-aarch64", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu"]
    command(*emulator, program, package, folder / "out", *files)
    return np.fromfile(folder / "out", dtype)


def check(name, got):
    model, x = networks()[name]
    (want,) = ReferenceEvaluator(model).run(None, {"x": x})
    assert np.abs(want).max() > 1
    if name != "layer":
        assert (got == want.ravel()).all()
        return
    # Ten sums follow one another, of 128 terms at most, each rounded by half a unit of the total;
    # here and in the reference.
    bound = 2 * 10 * 128 * np.finfo("float32").eps / 2 * np.abs(want).max()
    assert np.abs(got - want.ravel()).max() <= bound


@pytest.mark.parametrize("name", ["cnn", "layer", "quantized", "layer_sve"])
def test_a_network_in_a_static_program(program, name):
    """Its outputs are those of ONNX's reference."""
    network = name.removesuffix("_sve")
    check(network, outputs(program, program.parent / f"{name}.tlp", networks()[network][1]))


@pytest.mark.parametrize("name", list(PRODUCTS))
def test_a_micro_kernel_in_a_static_program(program, name):
    _, dtype, instruction = PRODUCTS[name]
    words = ["aarch64-linux-gnu-objdump", "-d", program.parent / f"{name}.o"]
    code = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert instruction in code
    a, b = np.random.default_rng(9).integers(-128, 128, (2, 40, 72)).astype(dtype)
    sums = "int32" if dtype == "int8" else dtype
    got = outputs(program, program.parent / f"{name}.tlp", a, b, dtype=sums)
    assert (got.reshape(40, 40) == a.astype("int64") @ b.T.astype("int64")).all()


def test_a_package_of_native_code(compiled, tmp_path):
    """The system's loader of aarch64 takes the shared object that was linked here."""
    loader = link(tmp_path, "loader")
    compiled["quantized"].save(tmp_path / "quantized.tlp")
    check("quantized", outputs(loader, tmp_path / "quantized.tlp", networks()["quantized"][1]))


@pytest.mark.parametrize(
    ("processor", "name", "lacks"),
    [("cortex-a72", "cnn", "dotprod"), ("max,sve=off", "layer_sve", "sve")],
)
def test_a_processor_without_the_features(program, processor, name, lacks):
    emulator = ["qemu-aarch64", "-cpu", processor]
    package = program.parent / f"{name}.tlp"
    problem = command(*emulator, program, package, "out", "in", status=1)
    assert "has no variant that" in problem and lacks in problem


def test_the_runtime_is_small(tmp_path):
    """A program with what loads native code, and one that has linked it and the C library."""
    (tmp_path / "networks.h").touch()
    alone = link(tmp_path, "alone", "-static-libstdc++", "-static-libgcc")
    whole = link(tmp_path, "whole", "-static", "-DNETWORKS=")
    sizes = [each.stat().st_size for each in (alone, whole)]
    print(f"{sizes[0]} bytes; {sizes[1]} bytes with the C library")
    assert sizes[0] <= MAX_BYTES and sizes[1] <= MAX_STATIC_BYTES
    needed = subprocess.run(["readelf", "-d", alone], capture_output=True, text=True, check=True)
    assert "libstdc++" not in needed.stdout and "libc.so" in needed.stdout
