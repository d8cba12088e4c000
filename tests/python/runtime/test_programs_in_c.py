"""Programs in C that use the runtime of an install tree."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from install_tree import HEIGHT, ROOT, WIDTH, c_program, needs_build, run
from llvm_plugin import has_llvm

import texloom
from texloom import te

sys.path.insert(0, str(ROOT / "docs"))

from blocks import run as run_blocks

pytestmark = [pytest.mark.nightly, needs_build]

LINKED_C_PROGRAM = r"""
#include <stdio.h>
#include <texloom/runtime/c_api/texloom.h>
#include "negative_kernels.h"

enum { COUNT = %d };
static float in[COUNT], out[COUNT];

int main(int argc, char** argv) {
  const texloom_linked_kernels* const libraries[] = {&texloom_negative_kernels};
  texloom_device* device = NULL;
  texloom_graph* graph = NULL;
  texloom_executor* executor = NULL;
  for (int i = 0; i < COUNT; ++i) in[i] = 0.25f;
  texloom_error* error = argc > 2 ? texloom_device_open("host", &device)
                                  : texloom_device_open_linked(libraries, 1, &device);
  if (!error)
    error = argc > 2 ? texloom_graph_load_native(device, argv[1], &graph)
                     : texloom_graph_load(device, argv[1], &graph);
  if (!error) error = texloom_executor_create(graph, &executor);
  if (!error) error = texloom_set_input(executor, 0, in, sizeof in);
  if (!error) error = texloom_run(executor);
  if (!error) error = texloom_get_output(executor, 0, out, sizeof out);
  if (error) printf("%%d: %%s\n", texloom_error_code(error), texloom_error_message(error));
  else printf("%%g\n", out[COUNT - 1]);
  texloom_error_free(error);
  texloom_executor_free(executor);
  texloom_graph_free(graph);
  texloom_device_free(device);
  return 0;
}
"""


def test_native_code_in_a_program_in_c(tree, kernels, tmp_path):
    """Kernels that the program links, and kernels of a package that it trusts; without LLVM."""
    code = LINKED_C_PROGRAM % (HEIGHT * WIDTH * 3)
    program = c_program(tree, tmp_path, code, kernels, include=[kernels.parent])
    assert run(program, kernels.with_suffix(".tlp")) == "0.75\n"
    x = te.placeholder((HEIGHT, WIDTH, 3), "float32", name="x")
    y = te.compute(x.shape, lambda i, j, c: 2 - x[i, j, c], name="y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    texloom.build(s, [x, y], "llvm").export_library(tmp_path / "stored.tlp")
    assert run(program, tmp_path / "stored.tlp", "native") == "1.75\n"
    assert "only native code, which is refused" in run(program, tmp_path / "stored.tlp")


C_PROGRAM = r"""
#include <stdio.h>
#include <texloom/runtime/c_api/texloom.h>

enum { COUNT = %d };
static float in[COUNT], out[COUNT];

int main(int argc, char** argv) {
  texloom_device* device = NULL;
  texloom_graph* graph = NULL;
  texloom_executor* executor = NULL;
  for (int i = 0; i < COUNT; ++i) in[i] = 0.5f;
  texloom_error* error = texloom_device_open("opencl", &device);
  if (!error) error = texloom_graph_load(device, argv[argc - 1], &graph);
  if (!error) error = texloom_executor_create(graph, &executor);
  if (!error) error = texloom_set_input(executor, 0, in, sizeof in);
  if (!error) error = texloom_run(executor);
  if (!error) error = texloom_get_output(executor, 0, out, sizeof out);
  if (error) printf("%%d: %%s\n", texloom_error_code(error), texloom_error_message(error));
  else printf("%%g %%g\n", out[0], out[3]);
  texloom_error_free(error);
  texloom_executor_free(executor);
  texloom_graph_free(graph);
  texloom_device_free(device);
  return 0;
}
"""


def test_a_program_in_c(tree, package, tmp_path):
    """The header is valid C11, and a C program links with the libraries."""
    program = c_program(tree, tmp_path, C_PROGRAM % (HEIGHT * WIDTH * 3))
    assert run(program, package) == "0.25 0.5\n"
    assert run(program, tmp_path / "none.tlp").startswith("3: ")


def c_program_of(page, part):
    """Return the C program of a page that has this part."""
    blocks = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    (code,) = (block for block in blocks if part in block)
    return code


def test_a_c_program_that_shares_its_context_and_queue(tree, tmp_path, monkeypatch):
    """The page's program compiles as strict C11, and its graph runs in its own queue."""
    monkeypatch.chdir(tmp_path)
    list(run_blocks(ROOT / "docs/embedding.md"))
    code = c_program_of("embedding.md", "clCreateContext")
    assert run(c_program(tree, tmp_path, code, "-l:libOpenCL.so.1")) == "4 6 12 14\n"


@pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
def test_the_page_of_a_program_with_linked_kernels(tree, tmp_path, monkeypatch):
    """Its Python writes what its C program and its project take; as C11, and by the project."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs/cpu.md"
    next(_ for _ in run_blocks(page) if Path("exp.o").exists())
    code = c_program_of("cpu.md", "&texloom_exp")
    assert run(c_program(tree, tmp_path, code, "exp.o", include=[tmp_path])) == "2\n"
    (project,) = re.findall(r"```cmake\n(.*?)```", page.read_text(), re.DOTALL)
    Path("CMakeLists.txt").write_text(project)
    run("cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={tree}")
    run("cmake", "--build", "build")
    assert run("build/exp") == "2\n"


def test_a_project_without_cpp_is_told_to_name_it(tree, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(program LANGUAGES C)\n"
        "find_package(texloom REQUIRED)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tree}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "project(program LANGUAGES C CXX)" in " ".join(done.stderr.split())
