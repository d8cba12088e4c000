"""The runtime inside another program: from an install tree, and by add_subdirectory."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from install_tree import HEIGHT, ROOT, WIDTH, needs_build, run

import texloom
from texloom import te

sys.path.insert(0, str(ROOT / "docs"))

from blocks import run as run_blocks

MAX_BYTES = 3 << 19  # 1.5 MiB
# The C and C++ libraries and their parts; older systems have separate dl and pthread.
SYSTEM_LIBRARIES = {"libc", "libstdc++", "libm", "libgcc_s", "libdl", "libpthread"}

pytestmark = [pytest.mark.nightly, needs_build]


@pytest.fixture(scope="module")
def program(tree):
    """The program of apps/embed, linked and stripped outside the checkout."""
    source, build = tree.parent / "outside", tree.parent / "outside/build"
    shutil.copytree(ROOT / "apps/embed", source)
    settings = [f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_BUILD_TYPE=MinSizeRel"]
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, *settings)
    run("cmake", "--build", build)
    assert [path.name for path in build.rglob("*.o")] == ["main.cc.o"]
    run("strip", build / "embed")
    return build / "embed"


def cpp_blocks(page):
    text = (ROOT / "docs" / page).read_text()
    return re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)


def program_of_hal():
    blocks = cpp_blocks("hal.md")
    [code] = [block for block in blocks if "main()" in block]
    return code


def page_of(tree, folder, program_text):
    """Build a C++ program with the strictest warnings; return it."""
    (folder / "main.cc").write_text(program_text)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(page CXX)\n"
        "find_package(texloom REQUIRED)\nadd_executable(page main.cc)\n"
        "target_compile_options(page PRIVATE -Wall -Wextra -Wpedantic -Werror)\n"
        "target_link_libraries(page PRIVATE texloom::runtime)\n"
    )
    settings = ["-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={tree}"]
    run("cmake", "-G", "Ninja", *settings)
    run("cmake", "--build", folder / "build")
    return folder / "build/page"


@pytest.mark.parametrize(
    ("page", "program_text", "out"),
    [
        ("hal.md", program_of_hal(), "510\n"),
        # All code blocks of the page together are one program.
        ("custom_operators.md", "".join(cpp_blocks("custom_operators.md")), "-0.5 -2 -4.5 -8\n"),
    ],
    ids=["hal", "custom_operators"],
)
def test_the_program_of_a_page(tree, page, program_text, out):
    """The C++ programs in the documents compile with the strictest warnings and run."""
    folder = tree.parent / page
    folder.mkdir()
    assert run(page_of(tree, folder, program_text)) == out


def write_picture(file, pixels):
    file.write_bytes(b"P6\n# a comment\n%d %d\n255\n" % pixels.shape[1::-1] + pixels.tobytes())


def read_picture(file):
    head, width, height, largest, pixels = file.read_bytes().split(maxsplit=4)
    assert (head, largest) == (b"P6", b"255")
    return np.frombuffer(pixels, np.uint8).reshape(int(height), int(width), 3)


def test_program_runs_a_package_on_a_picture(program, package, tmp_path):
    pixels = np.random.default_rng(1).integers(1, 256, (HEIGHT, WIDTH, 3), np.uint8)
    pixels[0, 0] = 255  # so that the pixels do not begin with a blank
    write_picture(tmp_path / "in.ppm", pixels)
    out = run(program, package, tmp_path / "in.ppm", tmp_path / "out.ppm")
    assert f"out.ppm: turned of {WIDTH} x {HEIGHT} pixels" in out
    left = np.zeros(pixels.shape)
    left[:, 1:] = pixels[:, :-1]
    exact = (255.0 - pixels[:, :, ::-1] + left) / 2
    # Rounding to 8 bits is half a step; float32 adds less than a thousandth of one.
    assert np.abs(read_picture(tmp_path / "out.ppm") - exact).max() <= 0.501


def test_a_static_program_with_linked_kernels(tree, kernels, package, tmp_path):
    """No library is opened, neither for kernels nor for a driver."""
    settings = [f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_BUILD_TYPE=MinSizeRel"]
    settings += [f"-DEMBED_KERNELS={kernels}"]
    run("cmake", "-G", "Ninja", "-S", ROOT / "apps/embed", "-B", tmp_path / "build", *settings)
    run("cmake", "--build", tmp_path / "build")
    program = tmp_path / "build/embed"
    run("strip", program)
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    assert "not a dynamic executable" in linked.stdout + linked.stderr
    print(f"{program.stat().st_size} bytes, {linked.stderr.strip()}")
    assert program.stat().st_size < 2 << 20
    pixels = np.random.default_rng(2).integers(1, 256, (HEIGHT, WIDTH, 3), np.uint8)
    write_picture(tmp_path / "in.ppm", pixels)
    run(program, kernels.with_suffix(".tlp"), tmp_path / "in.ppm", tmp_path / "out.ppm")
    assert (read_picture(tmp_path / "out.ppm") == 255 - pixels).all()
    other = refused(program, package, tmp_path / "in.ppm", tmp_path / "out.ppm")
    assert "has no variant that" in other


def test_the_page_makes_what_the_program_takes(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    list(run_blocks(ROOT / "docs/embedding.md"))
    out = run(program, "negative.tlp", "in.ppm", "out.ppm")
    assert "out.ppm: negative of 640 x 480 pixels" in out
    negative = 255 - read_picture(tmp_path / "in.ppm").astype(int)
    assert np.array_equal(read_picture(tmp_path / "out.ppm"), negative)


def test_the_program_for_a_package_with_an_open_size(tree, tmp_path, monkeypatch):
    page = (ROOT / "docs/embedding.md").read_text()
    (code,) = (block for block in cpp_blocks("embedding.md") if "main(" in block)
    (project,) = (
        each for each in re.findall(r"```cmake\n(.*?)```", page, re.DOTALL) if "(scores" in each
    )
    (tmp_path / "main.cc").write_text(code)
    (tmp_path / "CMakeLists.txt").write_text(project)
    monkeypatch.chdir(tmp_path)
    list(run_blocks(ROOT / "docs/embedding.md"))
    run("cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={tree}")
    run("cmake", "--build", "build")
    assert run("build/scores", "scores.tlp") == "1 1 \n1 1 1 1 1 1 \n"


def refused(program, *arguments, **options):
    done = subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )
    assert done.returncode == 1
    return done.stderr


def test_program_reports_what_is_wrong(program, package, tmp_path):
    picture = tmp_path / "in.ppm"
    write_picture(picture, np.zeros((HEIGHT + 1, WIDTH, 3), np.uint8))
    error = refused(program, package, picture, tmp_path / "out.ppm")
    assert error == (
        f'embed: invalid argument: input "x" has the shape ({HEIGHT}, {WIDTH}, 3), '
        f"got ({HEIGHT + 1}, {WIDTH}, 3)\n"
    )
    picture.write_bytes(b"P5\n1 1\n255\n0")
    assert "not a PPM picture" in refused(program, package, picture, tmp_path / "out.ppm")
    assert refused(program, picture, picture, picture).startswith("embed: invalid argument: ")
    assert refused(program, tmp_path / "none.tlp", picture, picture).startswith(
        "embed: unavailable"
    )
    assert refused(program) == "usage: embed PACKAGE IN.ppm OUT.ppm [DEVICE]\n"


def test_program_reports_that_there_is_no_device(program, package, tmp_path):
    none = {"OCL_ICD_VENDORS": f"{tmp_path}/"}  # a folder that names no implementation
    error = refused(program, package, package, package, env=none)
    assert error.startswith("embed: unavailable: no OpenCL device")


def test_program_is_small_and_needs_system_libraries_alone(program):
    assert program.stat().st_size <= MAX_BYTES
    needed = re.findall(r"\(NEEDED\).*\[(.*?)\.so", run("readelf", "-d", program))
    assert "libc" in needed
    assert {name for name in needed if not name.startswith("ld-linux")} <= SYSTEM_LIBRARIES


def test_headers_are_whole(tree, tmp_path):
    """Each installed header compiles, with only installed and standard headers.

    No header includes {fmt}, or a file of the user that is named like a header of the checkout.
    """
    headers = tree / "include"
    ours = sorted(headers.rglob("*.h"))
    assert headers / "texloom/runtime/drivers/opencl/driver.h" in ours
    users = tmp_path / "users"
    for name in ("support/status.h", "runtime/hal/device.h", "fmt/format.h", "fmt/core.h"):
        (users / name).parent.mkdir(parents=True, exist_ok=True)
        (users / name).write_text("#error this is the user's own\n")
    source, found = tmp_path / "all.cc", tmp_path / "all.d"
    source.write_text("".join(f"#include <{each.relative_to(headers)}>\n" for each in ours))
    options = ["-std=c++20", "-I", users, "-I", headers, "-fsyntax-only", "-MD", "-MF", found]
    run("c++", *options, source)
    read = {Path(word) for word in found.read_text().split()}
    others = {path for path in read if not path.is_relative_to(headers)}
    assert not [path for path in others if path.is_relative_to(ROOT)]
    assert not [path for path in others if path.parent.name in ("fmt", "CL")]


def test_nothing_but_a_folder_of_ours_is_installed_for_includes(tree):
    assert [path.name for path in (tree / "include").iterdir()] == ["texloom"]
    assert {path.name for path in (tree / "include/texloom").iterdir()} == {
        "plan",
        "runtime",
        "support",
    }


LIBRARY = """
cmake_minimum_required(VERSION 3.25)
project(library LANGUAGES CXX)
find_package(texloom REQUIRED)
add_library(library SHARED library.cc)
target_link_libraries(library PRIVATE texloom::runtime)
"""
LIBRARY_SOURCE = """
#include <support/status.h>
#include <texloom/runtime/drivers/opencl/driver.h>
#include <fmt/core.h>

bool has_devices() {
  return texloom::hal::opencl::create_driver().ok() && users && fmt::users;
}
"""


def test_a_shared_library_exports_nothing_of_ours(tree, tmp_path):
    """The library exports no {fmt}; it includes its own {fmt} and its own headers of our names."""
    for name, text in {
        "CMakeLists.txt": LIBRARY + "target_include_directories(library PRIVATE own)\n",
        "library.cc": LIBRARY_SOURCE,
        "own/support/status.h": "inline bool users = true;\n",
        "own/fmt/core.h": "namespace fmt { inline bool users = true; }\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    build = tmp_path / "build"
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={tree}")
    run("cmake", "--build", build)
    exported = run("nm", "-DC", "--defined-only", build / "liblibrary.so")
    assert "has_devices()" in exported
    assert not [line for line in exported.splitlines() if "fmt::v" in line]
    # Templates that the user's own source instantiates are exported unless the user hides them.
    ours = [line.split(maxsplit=2) for line in exported.splitlines() if "texloom::" in line]
    assert all(kind in "VWu" for _, kind, _ in ours), exported


OWN_FMT = """
#include <fmt/format-inl.h>  // all code of {fmt}, as in its static library
#include <texloom/runtime/drivers/opencl/driver.h>

int main() { fmt::print("{} {}", 0.5, texloom::hal::opencl::create_driver().ok()); }
"""


def test_a_program_with_the_same_version_of_fmt(tree, tmp_path):
    """The program's {fmt} and that inside the runtime's libraries do not clash when linked."""
    (tmp_path / "main.cc").write_text(OWN_FMT)
    libraries = [next(tree.rglob(f"libtexloom_{name}.a")) for name in ("runtime", "support")]
    options = ["-std=c++20", "-I", tree / "include", "-o", tmp_path / "program"]
    run("c++", *options, tmp_path / "main.cc", *libraries, "-ldl", "-pthread")
    assert run(tmp_path / "program") == "0.5 true"


def test_nothing_in_the_package_names_a_folder_of_this_machine(tree):
    for path in (tree / "lib").rglob("*.cmake"):
        text = path.read_text()
        assert str(ROOT) not in text and str(tree.parent) not in text and "/usr/" not in text


def test_a_part_of_another_project(tmp_path):
    """add_subdirectory provides the runtime's targets; it builds and sets nothing else."""
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.25)
project(whole LANGUAGES CXX)
add_subdirectory({ROOT} texloom)
add_executable(program main.cc)
target_link_libraries(program PRIVATE texloom::runtime)
get_property(targets DIRECTORY {ROOT} PROPERTY BUILDSYSTEM_TARGETS)
foreach(folder src/support src/plan src/runtime)
  get_property(more DIRECTORY {ROOT}/${{folder}} PROPERTY BUILDSYSTEM_TARGETS)
  list(APPEND targets ${{more}})
endforeach()
get_property(folders DIRECTORY {ROOT} PROPERTY SUBDIRECTORIES)
message(STATUS "targets: ${{targets}}; folders: ${{folders}}; build type: '${{CMAKE_BUILD_TYPE}}'")
""")
    source = tmp_path / "main.cc"
    source.write_text("#include <texloom/runtime/hal/device.h>\nint main() {}\n")
    settings = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    out = run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", *settings)
    told = re.search(r"targets: (.*?); folders: (.*?); build type: '(.*)'", out)
    targets = {"texloom_options", "texloom_fmt", "texloom_opencl_headers"}
    for name in ("support", "plan", "runtime"):
        targets |= {f"texloom_{name}{part}" for part in ("", "_public", "_headers")}
    assert set(told[1].split(";")) == targets
    assert told[2] == f"{ROOT}/src/support;{ROOT}/src/plan;{ROOT}/src/runtime"
    assert told[3] == ""
    # Headers have the same paths as in an install tree; compiling needs nothing else to be built.
    run("cmake", "--build", tmp_path / "build", "--target", "texloom_runtime_headers")
    run("cmake", "--build", tmp_path / "build", "--target", "texloom_support_headers")
    run("cmake", "--build", tmp_path / "build", "--target", "texloom_plan_headers")
    commands = json.loads((tmp_path / "build/compile_commands.json").read_text())
    (command,) = [each["command"] for each in commands if each["file"] == str(source)]
    flags = [word for word in command.split() if word.startswith(("-I", "-D", "-std"))]
    assert flags == [f"-I{tmp_path}/build/texloom/include", "-std=gnu++20"]
    run("c++", *flags, "-fsyntax-only", source)


TICKETS = r"""
#include <texloom/runtime/drivers/opencl/driver.h>
#include <texloom/runtime/executor/executor.h>
#include <texloom/runtime/executor/load_graph.h>
#include <texloom/runtime/package/package_file.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace runtime = texloom::runtime;
using texloom::Status;

// Runs an executor 200 times, and counts the results that equal the first.
static Status count_equal(runtime::Executor& executor, int& equal) {
  std::vector<float> first(32), result(32);
  for (int i = 0; i < 200; ++i) {
    TL_RETURN_IF_ERROR(executor.run());
    TL_RETURN_IF_ERROR(executor.get_output(0, std::as_writable_bytes(std::span(result))));
    if (i == 0) first = result;
    equal += result == first && result[0] == 256.0F;
  }
  return {};
}

static Status run(const std::string& path) {
  TL_ASSIGN_OR_RETURN(const auto driver, texloom::hal::opencl::create_driver());
  TL_ASSIGN_OR_RETURN(const auto device, driver->open(0));
  TL_ASSIGN_OR_RETURN(const auto file, runtime::PackageFile::open(path));
  TL_ASSIGN_OR_RETURN(const auto graph, runtime::load_graph(device, file));
  const std::vector<float> ones(256 * 32, 1.0F);
  std::vector<std::unique_ptr<runtime::Executor>> executors;
  for (int i = 0; i < 2; ++i) {
    TL_ASSIGN_OR_RETURN(const auto queue, device->create_queue());
    TL_ASSIGN_OR_RETURN(auto made,
                        runtime::Executor::create(graph.program, graph.interface, queue));
    TL_RETURN_IF_ERROR(made->set_input(0, std::as_bytes(std::span(ones))));
    executors.push_back(std::move(made));
  }
  int equal[2] = {0, 0};
  Status status[2];
  std::thread other([&] { status[1] = count_equal(*executors[1], equal[1]); });
  status[0] = count_equal(*executors[0], equal[0]);
  other.join();
  for (const Status& each : status) TL_RETURN_IF_ERROR(each);
  std::printf("%d %d\n", equal[0], equal[1]);
  return {};
}

int main(int, char** argv) {
  const Status status = run(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}
"""


def test_two_executors_of_a_package_with_tickets(tree, tmp_path):
    """Each has counters of its own: 200 runs at the same time give the result of the first."""
    a = te.placeholder((256, 32), name="a")
    k, p = te.reduce_axis((0, 16), name="k"), te.reduce_axis((0, 16), name="p")
    parts = te.compute((16, 32), lambda p, i: te.sum(a[p * 16 + k, i], axis=k), name="parts")
    b = te.compute((32,), lambda i: te.sum(parts[p, i], axis=p), name="b")
    s = te.create_schedule(b.op)
    s[b].bind(s[b].op.axis[0], te.thread_axis("blockIdx.x"))
    s[parts].set_scope("global")
    s[parts].compute_at(s[b], s[b].op.axis[0])
    s[parts].bind(s[parts].op.axis[0], te.thread_axis("blockIdx.y"))
    built = texloom.build(s, [a, b], "opencl -device=nvidia -conditional_barriers=0")
    (kernel,) = built.kernels
    assert "TL_DEVICE_FENCE" in kernel.source
    built.export_library(str(tmp_path / "columns.tlp"))
    page = page_of(tree, tmp_path, TICKETS)
    assert run(page, tmp_path / "columns.tlp") == "200 200\n"
