#include "lower/kernels/contract_fma.h"

#include "ir/target/fused_products.h"
#include "ir/visit.h"

namespace texloom::lower {

using ir::Binary;
using ir::BinaryOp;
using ir::Expr;

namespace {

const Binary* as_product(const Expr& e) {
  const auto* n = as<Binary>(e);
  return n != nullptr && n->op == BinaryOp::Mul ? n : nullptr;
}

// Multiplying by -1 negates the sign of a zero; subtracting from 0 would not.
Expr negated(const Expr& e) {
  return make_binary(BinaryOp::Mul, e, ir::make_const(-1, e->type), e->location);
}

Expr contracted(const Binary& n, const Expr& self) {
  const bool sum = n.op == BinaryOp::Add;
  if ((!sum && n.op != BinaryOp::Sub) || !n.type.is_float() || n.type.bits < 32) return self;
  if (const Binary* product = as_product(n.b)) {
    return make_fma(sum ? product->a : negated(product->a), product->b, n.a);
  }
  if (const Binary* product = as_product(n.a)) {
    return make_fma(product->a, product->b, sum ? n.b : negated(n.b));
  }
  return self;
}

}  // namespace

void contract_fma(Lowering& lowering) {
  const ir::Target& target = lowering.target;
  if (!target.math.contract) return;
  // In fast math LLVM contracts, after it has vectorized sums: it vectorizes no chain of fma.
  if (target.kind == ir::TargetKind::Llvm &&
      (target.math.fast || !ir::has_fused_products(target.machine)))
    return;
  for (ir::Kernel& kernel : lowering.program.kernels) kernel.body = contract_products(kernel.body);
}

ir::Stmt contract_products(const ir::Stmt& body) {
  return rewrite(body, [](const Binary& n, const Expr& self) { return contracted(n, self); });
}

}  // namespace texloom::lower
