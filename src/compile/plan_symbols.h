// Sorts the symbols of a program by their use.
#pragma once

#include <span>

#include "ir/program.h"
#include "lower/lowering.h"

namespace texloom::compile {

// The symbols that sizes depend on are the symbols of the launch plan; the other symbols are the
// plan's scalars. Symbols and scalars are in the order of the program.
struct PlanSymbols {
  ir::Exprs sizes, scalars;
};
PlanSymbols plan_symbols(const ir::Program& program);

// Finds a scalar whose value no argument of a call determines; null if there is none.
ir::Expr find_scalar_without_value(const PlanSymbols& symbols,
                                   std::span<const lower::SymbolArgument> arguments);

}  // namespace texloom::compile
