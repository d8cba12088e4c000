// Reads the arguments of a call that are numbers.
#pragma once

#include <span>
#include <vector>

#include "compile/module.h"
#include "core/function/call_signature.h"
#include "core/handles.h"
#include "runtime/hal/binding.h"
#include "runtime/plan/symbols.h"

namespace texloom::python {

// The values of the plan's symbols, and of its scalars.
struct GivenNumbers {
  runtime::GivenSymbols symbols;
  std::vector<hal::Constant> scalars;
};

// Returns the numbers among the arguments of a call, and appends the other arguments to `tensors`.
// There must be an argument for each parameter. Fails with WrongElementType for a value that the
// argument's type cannot represent.
GivenNumbers given_numbers(const compile::CompiledModule& module,
                           std::span<const Parameter> parameters, std::span<const py::handle> args,
                           std::vector<py::handle>& tensors, const SourceLocation& where);

}  // namespace texloom::python
