#include "compile/plan_symbols.h"

#include <algorithm>
#include <unordered_set>

#include "ir/visit.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR nodes

PlanSymbols plan_symbols(const Program& program) {
  std::unordered_set<const Var*> in_sizes;
  const auto note = [&](const Exprs& extents) {
    for (const Expr& extent : extents) walk(extent, [&](const Var& v) { in_sizes.insert(&v); });
  };
  for (const Buffer& param : program.params) note(param->extents);
  for (const Buffer& temporary : program.temporaries) note(temporary->extents);
  for (const Kernel& kernel : program.kernels) note({kernel.grid.begin(), kernel.grid.end()});
  walk(
      program.body, [&](const For& loop) { note({loop.extent}); },
      [&](const Allocate& n) { note(n.buffer->extents); });
  PlanSymbols result;
  for (const Expr& symbol : program.symbols) {
    (in_sizes.contains(as<Var>(symbol)) ? result.sizes : result.scalars).push_back(symbol);
  }
  return result;
}

Expr find_scalar_without_value(const PlanSymbols& symbols,
                               std::span<const lower::SymbolArgument> arguments) {
  for (const Expr& scalar : symbols.scalars) {
    const bool given =
        std::any_of(arguments.begin(), arguments.end(),
                    [&](const lower::SymbolArgument& a) { return a.symbol.same_as(scalar); });
    if (!given) return scalar;
  }
  return {};
}

}  // namespace texloom::compile
