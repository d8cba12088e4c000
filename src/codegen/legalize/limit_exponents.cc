#include "codegen/legalize/limit_exponents.h"

#include "ir/visit.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Expr;

namespace {

// float32 has exponents from -149 to 127: no finite number times 2^400 stays finite, and none times
// 2^-400 differs from zero.
constexpr double kLargest = 400;

Expr limited(const Expr& exponent) {
  const auto constant = [&](double value) { return ir::make_const(value, exponent->type); };
  const Expr low = make_binary(BinaryOp::Min, exponent, constant(kLargest));
  const Expr both = make_binary(BinaryOp::Max, low, constant(-kLargest));
  return make_select(make_binary(BinaryOp::Eq, exponent, exponent), both, constant(0));
}

}  // namespace

ir::Stmt limit_exponents(const ir::Stmt& body) {
  return rewrite(body, [&](const ir::Call& n, const Expr& self) {
    if (n.function != ir::Intrinsic::Ldexp) return self;
    return make_call(n.function, {n.arguments[0], limited(n.arguments[1])}, n.location);
  });
}

}  // namespace texloom::codegen
