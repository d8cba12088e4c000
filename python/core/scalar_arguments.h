// Arguments of a call that are numbers.
#pragma once

#include <vector>

#include "compiled.h"
#include "runtime/symbols.h"

namespace texloom::python {

// By the symbols of the function's plan, and by its scalars.
struct GivenNumbers {
  runtime::GivenSymbols symbols;
  std::vector<hal::Constant> scalars;
};

// The numbers among as many arguments as the function takes; `tensors` gets the others. Fails with
// WrongElementType where one is no value of the type that the function takes there.
GivenNumbers given_numbers(const CompiledFunction& f, const py::args& args,
                           std::vector<py::handle>& tensors, const SourceLocation& where);

// Sets what the function's program says about its symbols. Returns a scalar of its plan that no
// argument gives a value; null where there is none.
ir::Expr divide_symbols(CompiledFunction& f);

}  // namespace texloom::python
