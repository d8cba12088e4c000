#include "lower/build/widen_symbols.h"

#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

Type passed_as(Type type) {
  if (is_kernel_scalar(type)) return type;
  if (type.is_float()) return kFloat32;
  return type.is_int() ? kInt32 : Type::u(32);
}

void widen_symbols(Lowering& lowering) {
  Substitution narrow;
  for (Expr& symbol : lowering.program.symbols) {
    const Type type = passed_as(symbol->type);
    if (type == symbol->type) continue;
    const Expr wide = make_var(as<Var>(symbol)->name, type, symbol->location);
    narrow[symbol] = make_cast(symbol->type, wide);
    for (SymbolArgument& argument : lowering.symbol_arguments) {
      if (argument.symbol.same_as(symbol)) argument.symbol = wide;
    }
    symbol = wide;
  }
  if (!narrow.empty()) lowering.program.body = substitute(lowering.program.body, narrow);
}

}  // namespace texloom::lower
