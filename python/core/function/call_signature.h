// The parameters of a compiled function as its callers see them.
#pragma once

#include <pybind11/numpy.h>

#include <string>
#include <vector>

#include "compile/module.h"
#include "core/handles.h"
#include "core/runtime/arrays.h"

namespace texloom::python {

// One argument of a call.
struct Parameter {
  bool is_array;
  size_t number;  // index among the arrays, or the numbers (CompiledModule::symbol_arguments)
};

// Whether the value is an array of cpu(0), which Python's HostArray is.
bool is_host_array(const py::handle& value);

// Checks the arguments of calls. Arrays are counted without the numbers between them. The module
// must outlive this object.
class CallSignature {
 public:
  explicit CallSignature(const compile::CompiledModule& module);

  // The number of all arguments, and of the arrays that the function only writes.
  size_t count() const { return parameters_.size(); }
  size_t output_count() const;

  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Fails with WrongArgumentCount.
  void check_count(size_t given, const SourceLocation& where) const;
  // The arguments by position; null for outputs that the call leaves out. Fails with
  // WrongArgumentCount for a call that leaves out other arguments, or only some outputs.
  std::vector<py::handle> placed(const py::args& given, const SourceLocation& where) const;
  // Always fails with WrongArgumentCount, because the call passes an argument by this name.
  [[noreturn]] void refuse_keyword(const std::string& name, const SourceLocation& where) const;

  // The value as a Texloom array. Fails with NotAnArray for any other value, and with
  // WrongElementType, WrongShape or WrongScope for an array that does not match the parameter. The
  // runtime later checks the array's memory, and its symbolic extents once their symbols have
  // values.
  const PyArray& checked_array(size_t number, const py::handle& value,
                               const SourceLocation& where) const;
  // The shape of a NumPy array. Fails with WrongElementType or WrongShape like checked_array().
  ir::Shape checked_shape(size_t number, const py::array& array, const SourceLocation& where) const;

  const ir::BufferNode& param(size_t number) const { return *module_.program.params[number]; }
  // The layout that an array of this shape must have when a caller passes it.
  ir::Layout layout(size_t number, const ir::Shape& shape) const;
  // The accepted calls, for messages: "f(X, Y)", or "f(X, Y), or as f(X), which returns Y".
  std::string calls() const;
  // "f(X, Y)"
  std::string full_call() const { return call_of(false); }

 private:
  bool is_output(const Parameter& parameter) const;
  std::string call_of(bool without_outputs) const;
  void check_type(size_t number, ir::Type type, const SourceLocation& where) const;
  void check_shape(size_t number, const ir::Shape& shape, const SourceLocation& where) const;

  const compile::CompiledModule& module_;
  const std::vector<Parameter> parameters_;
};

}  // namespace texloom::python
