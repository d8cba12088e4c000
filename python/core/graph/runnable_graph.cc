#include "core/graph/runnable_graph.h"

namespace texloom::python {

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
