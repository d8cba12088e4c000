// Arguments of a call that are numbers.
#pragma once

#include <vector>

#include "compile/module.h"
#include "core/handles.h"
#include "runtime/hal/binding.h"
#include "runtime/plan_symbols.h"

namespace texloom::python {

// By the symbols of the module's plan, and by its scalars.
struct GivenNumbers {
  runtime::GivenSymbols symbols;
  std::vector<hal::Constant> scalars;
};

// The numbers among the arguments of a call, of which there are as many as the module takes;
// `tensors` gets the others. Fails with WrongElementType for a value that the argument's type does
// not have.
GivenNumbers given_numbers(const compile::CompiledModule& module, const py::args& args,
                           std::vector<py::handle>& tensors, const SourceLocation& where);

}  // namespace texloom::python
