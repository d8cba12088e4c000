#include "codegen/legalize/expand_functions.h"

#include "ir/visit.h"

namespace texloom::codegen {

using ir::Expr;
using ir::Intrinsic;

namespace {

struct Row {
  Intrinsic function;
  Expr (*expansion)(const ir::Call& call);
};

// The integer at a place of a word, in bits.
Expr part_of(const Expr& word, int place, int bits, bool is_signed) {
  const ir::Type type = word->type;
  const auto shifted = [type](ir::BinaryOp op, const Expr& value, int count) {
    return count == 0 ? value : ir::make_binary(op, value, ir::make_const(count, type));
  };
  if (is_signed)
    return shifted(ir::BinaryOp::Shr, shifted(ir::BinaryOp::Shl, word, 32 - bits - place),
                   32 - bits);
  return ir::make_binary(ir::BinaryOp::BitAnd, shifted(ir::BinaryOp::Shr, word, place),
                         ir::make_const((1 << bits) - 1, type));
}

Expr sum_of_products(const ir::Call& n, const ir::Dot& dot) {
  Expr sum;
  for (int place = 0; place < 32; place += dot.bits) {
    const Expr product = part_of(n.arguments[0], place, dot.bits, dot.is_left_signed) *
                         part_of(n.arguments[1], place, dot.bits, dot.is_right_signed);
    sum = place == 0 ? product : sum + product;
  }
  return sum;
}

constexpr Row kRows[] = {
    {Intrinsic::NativeRecip,
     [](const ir::Call& n) {
       return make_call(Intrinsic::NativeDivide, {ir::make_const(1, n.type), n.arguments[0]},
                        n.location);
     }},
};

}  // namespace

ir::Stmt expand_functions(const ir::Stmt& body, const Dialect& dialect) {
  return rewrite(body, [&](const ir::Call& n, const Expr& self) {
    if (dialect.functions.contains(n.function)) return self;
    if (const auto dot = ir::dot_of(n.function)) return sum_of_products(n, *dot);
    for (const Row& row : kRows) {
      if (row.function == n.function) return row.expansion(n);
    }
    return self;
  });
}

}  // namespace texloom::codegen
