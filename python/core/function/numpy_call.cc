#include "core/function/numpy_call.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "core/function/call_signature.h"
#include "core/function/completed_call.h"
#include "core/function/runs.h"
#include "core/runtime/arrays.h"
#include "support/diagnostic.h"

namespace texloom::python {

namespace {

bool is_output_left_out(const CallArgument& argument) {
  return argument.is_written && !argument.is_read && !argument.given;
}

bool is_written_numpy_array(const CallArgument& argument) {
  return argument.is_written && argument.given && is_numpy_array(argument.given);
}

const PyArray& array_of(const CallArgument& argument) {
  return argument.passed.cast<const PyArray&>();
}

void check_dtypes(std::span<const CallArgument> arguments) {
  const auto needs_bfloat16 = [](const CallArgument& each) {
    return is_output_left_out(each) && array_of(each).type.code == ir::TypeCode::BFloat;
  };
  if (std::any_of(arguments.begin(), arguments.end(), needs_bfloat16) && !numpy_has_bfloat16()) {
    fail(user_location(), Code::UnknownType,
         "pass arrays of a device, and convert the output: np.asarray(output, 'float32')",
         "an output is bfloat16, which does not exist in NumPy");
  }
}

// Whether elements of the array may share memory. Never true of slices and transposed views.
bool has_overlap(const py::array& array) {
  std::vector<std::pair<py::ssize_t, py::ssize_t>> axes;  // strides and extents
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    if (array.shape(i) > 1) axes.emplace_back(std::abs(array.strides(i)), array.shape(i));
  }
  std::sort(axes.begin(), axes.end());
  py::ssize_t span = array.itemsize();
  for (const auto& [stride, extent] : axes) {
    if (stride < span) return true;
    span += stride * (extent - 1);
  }
  return false;
}

bool share_memory(const py::object& a, const py::object& b) {
  const py::module_ numpy = py::module_::import("numpy");
  return numpy.attr("may_share_memory")(a, b).cast<bool>() &&
         numpy.attr("shares_memory")(a, b).cast<bool>();
}

// The NumPy arrays of a call's arrays of cpu(0), which kernels on the processor take.
std::vector<py::object> host_arrays(const py::args& args) {
  std::vector<py::object> values;
  for (const py::handle each : args) {
    if (is_host_array(each)) values.push_back(each.attr("_values"));
  }
  return values;
}

// Refuses an array of cpu(0) that is an input and an output, as an array of another device is.
// NumPy's arrays may be both, because a call copies them to the device first.
void check_host_arrays(std::span<const CallArgument> arguments,
                       std::span<const py::object> host_arrays) {
  const auto is_one = [&](const CallArgument& each) {
    return each.given && std::any_of(host_arrays.begin(), host_arrays.end(),
                                     [&](const py::object& host) { return host.is(each.given); });
  };
  for (const CallArgument& written : arguments) {
    if (!written.is_written || !is_one(written)) continue;
    for (const CallArgument& other : arguments) {
      if (&other == &written || !is_one(other) || !share_memory(written.given, other.given))
        continue;
      const auto& [first, second] = std::minmax({&written, &other});
      fail(user_location(), Code::AliasedArguments,
           "pass a separate array for each argument that is written",
           "the arguments '{}' and '{}' overlap in memory, and one of them is written",
           first->param->name, second->param->name);
    }
  }
}

// Refuses NumPy arrays that cannot hold what the function writes to them.
void check_written(std::span<const CallArgument> arguments) {
  std::vector<const CallArgument*> earlier;
  for (const CallArgument& each : arguments) {
    if (!is_written_numpy_array(each)) continue;
    const auto array = py::reinterpret_borrow<py::array>(each.given);
    if (!array.writeable()) {
      fail(user_location(), Code::ReadOnlyArray,
           "pass a copy, or leave the outputs out: the call then returns them",
           "the argument '{}' is written, but the array is read-only", each.param->name);
    }
    if (has_overlap(array)) {
      fail(user_location(), Code::AliasedArguments,
           "pass an array with an element for each index: np.empty(shape, dtype)",
           "elements of the array for '{}', which is written, share memory", each.param->name);
    }
    for (const CallArgument* other : earlier) {
      if (!share_memory(each.given, other->given)) continue;
      fail(user_location(), Code::AliasedArguments,
           "pass a separate array for each argument that is written",
           "the arguments '{}' and '{}' share memory, and both are written", other->param->name,
           each.param->name);
    }
    earlier.push_back(&each);
  }
}

py::tuple passed(std::span<const CallArgument> arguments) {
  py::tuple all(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) all[i] = arguments[i].passed;
  return all;
}

}  // namespace

py::object call_with_numpy(PyFunction& function, const py::args& args) {
  const std::vector<CallArgument> arguments = completed_call(function, args);
  const bool to_host = std::none_of(arguments.begin(), arguments.end(), [](const auto& each) {
    return each.given && py::isinstance<PyArray>(each.given);
  });
  if (to_host) check_dtypes(arguments);
  check_host_arrays(arguments, host_arrays(args));
  check_written(arguments);
  copy_to_device(arguments);
  enqueue(function, 1, py::args(passed(arguments)));
  py::list outputs;
  for (const CallArgument& each : arguments) {
    if (is_written_numpy_array(each)) {
      each.given.attr("__setitem__")(py::ellipsis(), copy_to_numpy(array_of(each)));
    }
    if (is_output_left_out(each))
      outputs.append(to_host ? py::object(copy_to_numpy(array_of(each))) : each.passed);
  }
  if (outputs.size() > 1) return py::tuple(outputs);
  return outputs.empty() ? py::object(py::none()) : py::object(outputs[0]);
}

}  // namespace texloom::python
