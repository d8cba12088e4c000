#include "core/function/completed_call.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <optional>

#include "codegen/backend.h"
#include "core/function/scalar_arguments.h"
#include "core/runtime/arrays.h"
#include "core/runtime/open_devices.h"
#include "ir/layout/layout_fold.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR types

namespace {

using Shapes = std::vector<std::optional<Shape>>;  // nullopt for arrays that are left out

class CompletedCall {
 public:
  CompletedCall(const PyFunction& function, const py::args& given)
      : function_(function), all_(signature_.placed(given, where_)) {
    numbers_ = given_numbers(function.module, signature_.parameters(), all_, arrays_, where_);
    for (size_t i = 0; i < arrays_.size(); ++i) shapes_.push_back(checked_shape(i));
  }

  std::vector<CallArgument> arguments() {
    const std::vector<Shape> shapes = all_shapes();
    const PyDevice device = device_of_arrays();
    std::vector<CallArgument> result;
    for (size_t i = 0; i < all_.size(); ++i) {
      const auto [is_array, number] = signature_.parameters()[i];
      const auto given = py::reinterpret_borrow<py::object>(all_[i]);
      if (!is_array) {
        result.push_back({given, given});
        continue;
      }
      const Access access = function_.module.array_accesses[number];
      result.push_back({
          .passed =
              is_on_device(given) ? given : py::cast(new_array(number, shapes[number], device)),
          .given = given,
          .param = &signature_.param(number),
          .is_read = access != Access::Write,
          .is_written = access != Access::Read,
      });
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
      return signature_.checked_array(i, arrays_[i], where_).shape;
    }
    return signature_.checked_shape(i, py::reinterpret_borrow<py::array>(arrays_[i]), where_);
  }

  // The device of the first array on a device. If there is none, the first device of the driver
  // that runs the target's kernels.
  PyDevice device_of_arrays() const {
    const auto found = std::find_if(arrays_.begin(), arrays_.end(), is_on_device);
    if (found != arrays_.end()) return found->cast<const PyArray&>().device;
    const std::string driver(codegen::backend_of(function_.module.target.kind).driver);
    const std::vector<std::string> drivers = driver_names();
    const bool is_there = std::find(drivers.begin(), drivers.end(), driver) != drivers.end();
    return is_there ? PyDevice{.driver = driver} : PyDevice();
  }

  std::vector<Shape> all_shapes() const {
    const auto completed = function_.shapes.complete(shapes_, numbers_.symbols);
    if (completed.ok()) return *completed;
    fail(where_, Code::WrongShape,
         "pass arrays whose shapes agree with one another; if they do not determine the shapes of "
         "the outputs, pass these too: " +
             signature_.full_call(),
         "{}", completed.status().message());
  }

  PyArray new_array(size_t i, const Shape& shape, const PyDevice& device) const {
    const Layout layout = signature_.layout(i, shape);
    if (signature_.param(i).is_symbolic()) check_image(i, layout, device);
    return make_array(device, signature_.param(i).type, shape, layout);
  }

  void check_image(size_t i, const Layout& layout, const PyDevice& device) const {
    const hal::DeviceLimits& limits = open_device(device)->info().limits;
    const ImageLimits images{limits.max_image_width, limits.max_image_height};
    if (layout.object != MemoryObject::Image2d || fits(layout, images)) return;
    fail(where_, Code::TextureTooLarge, "pass a smaller array, or keep the tensor in a buffer",
         "the argument '{}' of shape {} needs an image of {} x {} texels, but the device's images "
         "have at most {} x {}",
         signature_.param(i).name, shape_text(layout.shape), layout.col_count(), layout.row_count(),
         images.max_width, images.max_height);
  }

  const SourceLocation where_ = user_location();
  const PyFunction& function_;
  const CallSignature& signature_ = function_.signature;
  const std::vector<py::handle> all_;  // null for outputs that are left out
  std::vector<py::handle> arrays_;     // the arrays among all_
  GivenNumbers numbers_;
  Shapes shapes_;
};

}  // namespace

std::vector<CallArgument> completed_call(const PyFunction& function, const py::args& given) {
  return CompletedCall(function, given).arguments();
}

void copy_to_device(std::span<const CallArgument> arguments) {
  for (const CallArgument& each : arguments) {
    if (each.param != nullptr && each.given && is_numpy_array(each.given)) {
      copy_from_numpy(each.passed.cast<const PyArray&>(),
                      py::reinterpret_borrow<py::array>(each.given));
    }
  }
}

}  // namespace texloom::python
