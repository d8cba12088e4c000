#include "core/function/call_signature.h"

#include <fmt/ranges.h>
#include <pybind11/numpy.h>

#include <algorithm>

#include "codegen/backend.h"
#include "ir/program.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR types

namespace {

std::string place_text(const Layout& layout) {
  return layout == linear_layout(layout.shape) ? "a buffer" : to_string(layout);
}

[[noreturn]] void refuse_value(const py::handle& value, const BufferNode& param,
                               const Target& target, const SourceLocation& where) {
  const std::string what = is_host_array(value)
                               ? fmt::format("an array of {}, which runs no kernels",
                                             py::str(value.attr("device")).cast<std::string>())
                               : fmt::format("{}, not an array", kind_text(value));
  const std::string_view driver = codegen::backend_of(target.kind).driver;
  fail(where, Code::NotAnArray,
       fmt::format("pass a NumPy array, or make it with texloom.nd.array(value, texloom.{}(0))",
                   driver),
       "the argument '{}' is {}", param.name, what);
}

// Whether the value is a device array or a NumPy array with axes. A NumPy array without axes is a
// number.
bool is_array(const py::handle& value) {
  if (py::isinstance<PyArray>(value)) return true;
  return is_numpy_array(value) && py::reinterpret_borrow<py::array>(value).ndim() > 0;
}

// The array to which the kernels' results are written: of an array of cpu(0), its NumPy array,
// where kernels run on the processor. It lives as long as the value.
py::handle in_memory(const py::handle& value, const Target& target) {
  const bool runs_here = codegen::backend_of(target.kind).driver == "host";
  return runs_here && is_host_array(value) ? py::handle(value.attr("_values")) : value;
}

std::vector<Parameter> parameters_of(const compile::CompiledModule& module) {
  std::vector<Parameter> parameters;
  for (size_t i = 0; i < module.array_layouts.size(); ++i) parameters.push_back({true, i});
  for (size_t i = 0; i < module.symbol_arguments.size(); ++i) {
    const auto before = static_cast<ptrdiff_t>(module.symbol_arguments[i].position);
    parameters.insert(parameters.begin() + before, {false, i});
  }
  return parameters;
}

}  // namespace

bool is_host_array(const py::handle& value) {
  if (py::isinstance<PyArray>(value)) return false;  // the usual argument, of which this is quick
  return py::str(py::type::of(value).attr("__name__")).cast<std::string>() == "HostArray";
}

CallSignature::CallSignature(const compile::CompiledModule& module)
    : module_(module), parameters_(parameters_of(module)) {}

size_t CallSignature::output_count() const {
  const std::vector<Access>& accesses = module_.array_accesses;
  return static_cast<size_t>(std::count(accesses.begin(), accesses.end(), Access::Write));
}

bool CallSignature::is_output(const Parameter& parameter) const {
  return parameter.is_array && module_.array_accesses[parameter.number] == Access::Write;
}

std::string CallSignature::call_of(bool without_outputs) const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_) {
    if (without_outputs && is_output(parameter)) continue;
    names.push_back(parameter.is_array
                        ? param(parameter.number).name
                        : as<Var>(module_.symbol_arguments[parameter.number].symbol)->name);
  }
  return fmt::format("{}({})", module_.program.name, fmt::join(names, ", "));
}

std::string CallSignature::calls() const {
  if (output_count() == 0) return full_call();
  std::vector<std::string> outputs;
  for (size_t i = 0; i < module_.array_accesses.size(); ++i) {
    if (module_.array_accesses[i] == Access::Write) outputs.push_back(param(i).name);
  }
  return fmt::format("{}, or as {}, which returns {}", full_call(), call_of(true),
                     fmt::join(outputs, ", "));
}

void CallSignature::check_count(size_t given, const SourceLocation& where) const {
  if (given == count()) return;
  fail(where, Code::WrongArgumentCount, "call it as " + calls(),
       "'{}' takes {} arguments but is called with {}", module_.program.name, count(), given);
}

void CallSignature::refuse_keyword(const std::string& name, const SourceLocation& where) const {
  fail(where, Code::WrongArgumentCount, "call it as " + calls(),
       "'{}' is called with the keyword argument '{}', but its arguments are positional",
       module_.program.name, name);
}

std::vector<py::handle> CallSignature::placed(const py::args& given,
                                              const SourceLocation& where) const {
  const bool without_outputs = given.size() + output_count() == count();
  if (!without_outputs) check_count(given.size(), where);
  std::vector<py::handle> all;
  size_t next = 0;
  for (const Parameter& parameter : parameters_) {
    const bool missing = without_outputs && is_output(parameter);
    all.push_back(missing ? py::handle() : in_memory(given[next++], module_.target));
    // An array in the position of a number shows that the call passes only some outputs.
    if (without_outputs && !parameter.is_array && is_array(all.back()))
      check_count(given.size(), where);
  }
  return all;
}

void CallSignature::check_type(size_t number, Type type, const SourceLocation& where) const {
  const BufferNode& wanted = param(number);
  if (type == wanted.type) return;
  fail(where, Code::WrongElementType,
       fmt::format("pass an array of dtype {}", to_string(wanted.type)),
       "the argument '{}' has dtype {}, but the array has {}", wanted.name, to_string(wanted.type),
       to_string(type));
}

void CallSignature::check_shape(size_t number, const Shape& shape,
                                const SourceLocation& where) const {
  const BufferNode& wanted = param(number);
  const Shape& expected = module_.array_layouts[number].shape;
  if (wanted.is_symbolic() || shape == expected) return;
  fail(where, Code::WrongShape, fmt::format("pass an array of shape {}", shape_text(expected)),
       "the argument '{}' has shape {}, but the array has {}", wanted.name, shape_text(expected),
       shape_text(shape));
}

const PyArray& CallSignature::checked_array(size_t number, const py::handle& value,
                                            const SourceLocation& where) const {
  if (!py::isinstance<PyArray>(value)) refuse_value(value, param(number), module_.target, where);
  const auto& array = value.cast<const PyArray&>();
  check_type(number, array.type, where);
  check_shape(number, array.shape, where);
  if (param(number).is_symbolic() && !param(number).is_texture()) {
    if (same_places(array.layout, linear_layout(array.layout.shape))) return array;
    fail(where, Code::WrongScope, "make the array without mem_scope and layout",
         "the argument '{}' must be in a row-major buffer, but the array is in {}",
         param(number).name, place_text(array.layout));
  }
  // The later check of shapes (CallShapes::symbols) refuses an array of another rank.
  if (param(number).is_symbolic() && array.shape.size() != param(number).rank()) return array;
  if (same_places(array.layout, layout(number, array.shape))) return array;
  fail(where, Code::WrongScope,
       "make the array with the argument's scope or layout (nd.empty(..., mem_scope=..., "
       "layout=...)) and the target that the function was built for",
       "the argument '{}' must be in {}, but the array is in {}", param(number).name,
       place_text(module_.array_layouts[number]), place_text(array.layout));
}

Shape CallSignature::checked_shape(size_t number, const py::array& array,
                                   const SourceLocation& where) const {
  check_type(number, to_type(array.dtype()), where);
  Shape shape(array.shape(), array.shape() + array.ndim());
  check_shape(number, shape, where);
  return shape;
}

Layout CallSignature::layout(size_t number, const Shape& shape) const {
  if (!param(number).is_symbolic()) return module_.array_layouts[number];
  const Shape in_memory = shape_in_memory(shape);
  return param(number).is_texture() ? close(param(number).layout, in_memory)
                                    : linear_layout(in_memory);
}

}  // namespace texloom::python
