#include "core/graph/runnable_graph.h"

#include "codegen/backend.h"
#include "core/runtime/open_devices.h"

namespace texloom::python {

std::string driver_of(const runtime::Package& package) {
  // The first word of a target is its kind.
  const std::string& target = package.variants.front().target;
  const codegen::Backend* backend = codegen::find_backend(target.substr(0, target.find(' ')));
  return backend == nullptr ? PyDevice().driver : std::string(backend->driver);
}

GraphArrays::GraphArrays(const std::vector<pybind11::array>& given) {
  for (const pybind11::array& each : given) {
    const pybind11::array& array =
        arrays.emplace_back(pybind11::array::ensure(each, pybind11::array::c_style));
    inputs.push_back(
        {{static_cast<const std::byte*>(array.data()), static_cast<std::size_t>(array.nbytes())},
         {each.shape(), each.shape() + each.ndim()}});
  }
}

}  // namespace texloom::python
