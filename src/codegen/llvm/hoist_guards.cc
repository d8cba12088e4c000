#include "codegen/llvm/hoist_guards.h"

#include "ir/arith/linear.h"
#include "ir/visit.h"

namespace texloom::codegen::native {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The parts of a condition that a loop changes, and those that it does not change; null without.
struct Parts {
  Expr fixed, changing;
};

void add(Expr& all, const Expr& part) { all = all ? make_binary(BinaryOp::And, all, part) : part; }

void divide(const Expr& condition, const Expr& var, Parts& parts) {
  const auto* both = as<Binary>(condition);
  if (both != nullptr && both->op == BinaryOp::And && condition->type.is_bool()) {
    divide(both->a, var, parts);
    divide(both->b, var, parts);
    return;
  }
  const bool is_fixed = !uses_var(condition, var) && !arith::reads_memory(condition);
  add(is_fixed ? parts.fixed : parts.changing, condition);
}

}  // namespace

Stmt hoist_guards(const Stmt& body) {
  return rewrite(body, [](const For& loop, const Stmt& self) {
    const auto* guard = as<If>(loop.body);
    if (guard == nullptr) return self;
    Parts parts;
    divide(guard->condition, loop.var, parts);
    if (!parts.fixed) return self;
    const Stmt inside =
        parts.changing ? make_if(parts.changing, guard->then, loop.body->location) : guard->then;
    return make_if(parts.fixed, make_for(loop.var, loop.extent, loop.loop, inside, loop.location),
                   loop.body->location);
  });
}

}  // namespace texloom::codegen::native
