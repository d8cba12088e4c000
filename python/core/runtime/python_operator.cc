#include "core/runtime/python_operator.h"

#include <fmt/ranges.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/runtime/python_call.h"
#include "core/runtime/tensor_types.h"
#include "runtime/custom/host_operator.h"

namespace texloom::python {
namespace {

using runtime::AttributeValue;
using runtime::OperatorInfo;

// A shared Python object whose last reference may be dropped by a thread without the GIL.
std::shared_ptr<py::object> shared(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            const PythonCall python;
            if (python) held->dec_ref();
            held->release();  // after Python's shutdown, the object stays until the process ends
            delete held;
          }};
}

// str(value) as UTF-8. Works for values whose str() raises, and for text that UTF-8 cannot encode.
std::string text_of(const py::handle& value) {
  try {
    return py::str(value).attr("encode")("utf-8", "backslashreplace").cast<std::string>();
  } catch (const py::error_already_set&) {
    return "(a message that cannot be printed)";
  }
}

// "FILE:LINE" of the innermost frame; "" if it is unknown.
std::string place_of(py::object trace) {
  if (!trace || trace.is_none()) return {};
  while (!trace.attr("tb_next").is_none()) trace = trace.attr("tb_next");
  const py::object code = trace.attr("tb_frame").attr("f_code");
  return fmt::format("{}:{}", py::str(code.attr("co_filename")).cast<std::string>(),
                     trace.attr("tb_lineno").cast<int>());
}

// An error with the exception's type, the first line of its text, and its place. Exceptions of
// Texloom keep their help.
Status status_of(const py::error_already_set& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) {
    PyErr_SetInterrupt();  // interrupts the main thread, which waits; a queue's thread runs this
    return Status(StatusCode::Cancelled, "was interrupted");
  }
  const std::string type = text_of(error.type().attr("__name__"));
  std::string message = text_of(error.value());
  std::string help = "; help: correct the function, or what it is called with";
  if (py::isinstance(error.value(), py::module_::import("texloom.errors").attr("TVMError"))) {
    const py::object first = error.value().attr("diagnostics")[py::int_(0)];
    message = first.attr("message").cast<std::string>();
    help = "; help: " + first.attr("help").cast<std::string>();
  }
  const std::string place = place_of(error.trace());
  return make_error(StatusCode::Internal, "raised {}: {}{}{}", type,
                    message.substr(0, message.find('\n')), place.empty() ? "" : ", at " + place,
                    help);
}

// Calls a function with the GIL; an exception becomes an error.
template <class Function>
Status with_python(const Function& function) {
  const PythonCall python;
  if (!python)
    return Status(StatusCode::Cancelled,
                  "Python is ending and calls no more functions; help: run the operator earlier: "
                  "functions of atexit that are registered after texloom is imported still can");
  try {
    return function();
  } catch (const py::error_already_set& error) {
    return status_of(error);
  } catch (const std::exception& error) {
    return make_error(StatusCode::Internal, "raised {}", error.what());
  }
}

py::object attribute_value(const AttributeValue& value) {
  return std::visit([](const auto& each) { return py::cast(each); }, value);
}

py::dict keywords(const runtime::Attributes& attributes) {
  py::dict words;
  for (const runtime::Attribute& each : attributes.values())
    words[py::str(each.name)] = attribute_value(each.value);
  return words;
}

// NumPy has no bfloat16: functions get the bits.
py::dtype numpy_dtype(hal::ElementType element) {
  return py::dtype(element == hal::ElementType::BFloat16 ? "uint16"
                                                         : std::string(hal::to_string(element)));
}

// A Python function as a host operator. Queues call it on their threads.
class PythonOperator final : public runtime::HostOperator {
 public:
  // `shapes` may be None: then `like` determines the types of outputs from those of inputs.
  PythonOperator(OperatorInfo info, py::object function, py::object shapes,
                 runtime::LikeInputs like)
      : info_(std::move(info)),
        function_(shared(std::move(function))),
        shapes_(shapes.is_none() ? nullptr : shared(std::move(shapes))),
        like_(std::move(like)) {}

  const OperatorInfo& info() const override { return info_; }

  Result<std::vector<runtime::TensorType>> shapes(
      std::span<const runtime::TensorType> inputs,
      const runtime::Attributes& attributes) const override {
    if (shapes_ == nullptr) return runtime::shapes_like(info_, like_, inputs);
    std::vector<runtime::TensorType> types;
    TL_RETURN_IF_ERROR(with_python([&] {
                         const py::object given =
                             (*shapes_)(rows_of(inputs), **keywords(attributes));
                         TL_ASSIGN_OR_RETURN(types, returned_types(given));
                         return Status();
                       }).with_context(fmt::format("the shapes of operator \"{}\"", info_.name)));
    return types;
  }

  Status run(const runtime::HostArguments& arguments) const override {
    return with_python([&] { return call(arguments); });
  }

 private:
  // The types that the function for shapes returned, one for each argument that is only written.
  Result<std::vector<runtime::TensorType>> returned_types(const py::object& given) const {
    std::vector<std::string> outputs;
    for (const runtime::OperatorArgument& each : info_.arguments)
      if (!hal::reads(each.access)) outputs.push_back(each.name);
    const auto help = fmt::format(
        "; help: return a list with (dtype, shape) for each output ({}), as "
        "[(\"float32\", (2, 4))]",
        fmt::join(outputs, ", "));
    auto types = types_of(given);
    if (!types.ok())
      return invalid_argument("the returned value {}{}", types.status().message(), help);
    if (types->size() != outputs.size())
      return invalid_argument("the function returned {} outputs instead of {}{}", types->size(),
                              outputs.size(), help);
    return types;
  }

  // The function may keep the arrays: they are copies.
  Status call(const runtime::HostArguments& arguments) const {
    std::vector<py::array> arrays;
    py::tuple given(arguments.tensors.size());
    for (std::size_t i = 0; i < arguments.tensors.size(); ++i) {
      const runtime::HostTensor& tensor = arguments.tensors[i];
      arrays.emplace_back(numpy_dtype(tensor.spec.element), tensor.spec.layout.shape,
                          static_cast<const void*>(tensor.data.data()));
      if (!hal::writes(info_.arguments[i].access))
        arrays.back().attr("setflags")(py::arg("write") = false);
      given[i] = arrays.back();
    }
    const py::object returned = (*function_)(*given, **keywords(arguments.attributes));
    if (!returned.is_none())
      return invalid_argument(
          "returned {}; help: write results into an argument, as y[...] = x, and return nothing",
          kind_text(returned));
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!hal::writes(info_.arguments[i].access)) continue;
      const std::span<std::byte> written = arguments.tensors[i].data;
      if (static_cast<std::size_t>(arrays[i].nbytes()) != written.size())
        return invalid_argument("resized the array \"{0}\"; help: write into it, as {0}[...] = x",
                                info_.arguments[i].name);
      std::memcpy(written.data(), arrays[i].data(), written.size());
    }
    return {};
  }

  OperatorInfo info_;
  std::shared_ptr<py::object> function_, shapes_;
  runtime::LikeInputs like_;
};

}  // namespace

std::shared_ptr<const runtime::CustomOperator> python_operator(OperatorInfo info,
                                                               py::object function,
                                                               py::object shapes,
                                                               runtime::LikeInputs like) {
  return std::make_shared<PythonOperator>(std::move(info), std::move(function), std::move(shapes),
                                          std::move(like));
}

}  // namespace texloom::python
