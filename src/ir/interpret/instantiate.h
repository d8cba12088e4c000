// Gives symbols their values for one call, for the interpreter.
#pragma once

#include <unordered_map>
#include <variant>

#include "ir/program.h"

namespace texloom::ir {

// The value of an integer or bool symbol, or of a float symbol.
using SymbolValue = std::variant<int64_t, double>;
using SymbolValues = std::unordered_map<Expr, SymbolValue, RefHash, RefSame>;

// The number that the extent evaluates to. Fails with InterpreterLimit if it divides by 0.
int64_t value_of(const Expr& extent, const SymbolValues& values);

// Purpose: makes the program of one call, with numbers for all symbols. Arrays have constant
// extents. Loops and grids have constant extents, too, unless they depend on a loop around them.
// Kernels have no symbols among their parameters. An array without elements gets one element. A
// launch without blocks is removed.
// Requires: any stage but te; every symbol has a value. Ensures: the same stage.
// Fails with InterpreterLimit if an array has more than 2^30 elements or an extent divides by 0.
Program instantiate(const Program& program, const SymbolValues& values);

}  // namespace texloom::ir
