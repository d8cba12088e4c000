#include "core/runtime/completed_call.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <optional>

#include "compile/launch_plan.h"
#include "core/runtime/arrays.h"
#include "core/runtime/call_signature.h"
#include "core/runtime/scalar_arguments.h"
#include "runtime/plan_symbols.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of IR types

namespace {

using Shapes = std::vector<std::optional<Shape>>;  // of the arrays; nullopt for outputs left out

class CompletedCall {
 public:
  CompletedCall(const compile::CompiledModule& module, const py::args& given)
      : module_(module), signature_(module), all_(signature_.placed(given, where_)) {
    numbers_ = given_numbers(module, all_, arrays_, where_);
    for (size_t i = 0; i < arrays_.size(); ++i) shapes_.push_back(checked_shape(i));
  }

  py::list arguments() {
    const std::vector<Shape> shapes = all_shapes();
    const PyDevice device = device_of_arrays();
    py::list result;
    size_t array = 0;
    auto number = module_.symbol_arguments.begin();
    for (size_t place = 0; place < all_.size(); ++place) {
      if (number != module_.symbol_arguments.end() && number->position == place) {
        ++number;
        result.append(py::make_tuple(all_[place], all_[place], ""));
        continue;
      }
      const py::object given =
          all_[place] ? py::reinterpret_borrow<py::object>(all_[place]) : py::object(py::none());
      const py::object passed =
          is_on_device(all_[place]) ? given : py::cast(new_array(array, shapes[array], device));
      result.append(
          py::make_tuple(passed, given, py::str(to_string(module_.array_accesses[array]).data())));
      ++array;
    }
    return result;
  }

 private:
  static bool is_on_device(const py::handle& value) {
    return value && py::isinstance<PyArray>(value);
  }

  std::optional<Shape> checked_shape(size_t i) const {
    if (!arrays_[i]) return std::nullopt;
    if (!is_numpy_array(arrays_[i])) {
      return signature_.checked_array(i, arrays_[i], where_).layout.shape;
    }
    return signature_.checked_shape(i, py::reinterpret_borrow<py::array>(arrays_[i]), where_);
  }

  PyDevice device_of_arrays() const {
    const auto found = std::find_if(arrays_.begin(), arrays_.end(), is_on_device);
    return found == arrays_.end() ? PyDevice() : found->cast<const PyArray&>().device;
  }

  std::vector<Shape> all_shapes() const {
    std::vector<Shape> all;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      all.push_back(shapes_[i].value_or(module_.array_layouts[i].shape));
    }
    if (module_.symbols.sizes.empty()) return all;
    // The plan has static arrays as kernels see them.
    Shapes in_kernels = shapes_;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!signature_.param(i).is_symbolic()) in_kernels[i] = signature_.param(i).shape;
    }
    runtime::LaunchPlan plan = compile::make_launch_plan(module_);
    plan.arguments.resize(all.size());  // without the report of a checked build
    const auto solved = runtime::complete_shapes(plan, in_kernels, numbers_.symbols);
    if (!solved.ok()) {
      fail(where_, Code::WrongShape,
           "pass arrays whose shapes agree with one another; if they do not determine the shapes "
           "of the outputs, pass these too: " +
               signature_.full_call(),
           "{}", solved.status().message());
    }
    for (size_t i = 0; i < all.size(); ++i) {
      if (signature_.param(i).is_symbolic()) all[i] = (*solved)[i];
    }
    return all;
  }

  PyArray new_array(size_t i, const Shape& shape, const PyDevice& device) const {
    return make_array(device, signature_.param(i).type, signature_.layout(i, shape));
  }

  const SourceLocation where_ = user_location();
  const compile::CompiledModule& module_;
  const CallSignature signature_;
  const std::vector<py::handle> all_;  // null for outputs that are left out
  std::vector<py::handle> arrays_;     // the arrays among them
  GivenNumbers numbers_;
  Shapes shapes_;
};

}  // namespace

py::list completed_call(const compile::CompiledModule& module, const py::args& given) {
  return CompletedCall(module, given).arguments();
}

}  // namespace texloom::python
