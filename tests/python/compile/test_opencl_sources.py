"""Generated OpenCL C must satisfy compilers other than the devices' own."""

import clang_opencl
import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "seed"), [(50, 0), pytest.param(350, 1, marks=pytest.mark.nightly)]
)
def test_kernels_compile_without_a_warning(count, seed):
    """Kernels of all operators and of random programs compile as OpenCL C 1.2 and 3.0."""
    assert clang_opencl.diagnostics(list(clang_opencl.generated_sources(count, seed))) == ""


def test_warnings_are_found():
    source = "__kernel void k(__global int* x) { const int unused = 1; x[0] = 0; }\n"
    said = clang_opencl.diagnostics([source, source.replace("const int unused = 1;", "")])
    assert said.count("unused variable") == len(clang_opencl.STANDARDS)
