// Adds metallibs, which contain compiled kernels, to a package for Metal. A Python function makes
// the metallibs with Apple's compiler.

#include "runtime/package/metallibs.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/compile/packages.h"
#include "core/handles.h"

namespace texloom::python {

namespace {

// Paths are in the file system's encoding.
std::size_t add_metallibs(const py::bytes& path, const py::bytes& output,
                          const py::function& compiler) {
  const auto file = open_package(path, NativeKernels::Take);  // nothing runs
  using Metallibs = std::vector<std::string>;
  const auto compiled = [&](std::span<const runtime::MetalSource> sources) -> Result<Metallibs> {
    std::vector<std::tuple<std::string, std::vector<std::string>, bool>> given;
    for (const auto& [code, options, is_fast] : sources) given.emplace_back(code, options, is_fast);
    return compiler(given).cast<Metallibs>();
  };
  const auto count = runtime::add_metallibs(*file, std::string(output), compiled);
  throw_if_not_written(count.status());
  return *count;
}

}  // namespace

void bind_metallibs(py::module_& m) { m.def("add_metallibs", add_metallibs); }

}  // namespace texloom::python
