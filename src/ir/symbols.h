// Symbols: variables whose values each call gives (program.h).
#pragma once

#include <unordered_map>
#include <variant>

#include "ir/arith/ranges.h"
#include "ir/program.h"
#include "ir/visit.h"

namespace texloom::ir {

// Whether it is what extents may be: int32 sums, differences, products, floor divisions and
// remainders, minima and maxima of constants, symbols and variables of loops around.
bool is_extent(const Expr& e);

// What is known of the symbols in these extents: each extent of an array is at least 1.
arith::Ranges ranges_of_symbols(const Exprs& extents);
arith::Ranges ranges_of_symbols(const std::vector<Buffer>& params);
// What is known of a kernel's scalar parameters: symbols, and variables of the plan's loops.
arith::Ranges ranges_of_params(const Kernel& kernel);

// Of an integer or a bool, or of a float.
using SymbolValue = std::variant<int64_t, double>;
using SymbolValues = std::unordered_map<Expr, SymbolValue, RefHash, RefSame>;

// What the extent comes to. Fails with InterpreterLimit where it divides by 0.
int64_t value_of(const Expr& extent, const SymbolValues& values);

// What it does: the program of one call, in which numbers stand for all symbols: arrays are of
// constant extents, loops and grids too unless they depend on a loop around, and kernels have no
// symbols among their parameters. An array that comes to nothing keeps one element. A launch of no
// blocks is left out.
// Before: any stage but te; each symbol has a value. After: the same stage. For the interpreter.
// Fails with InterpreterLimit where an array has more than 2^30 elements, or an extent divides by
// 0.
Program instantiate(const Program& program, const SymbolValues& values);

}  // namespace texloom::ir
