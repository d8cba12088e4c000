#include "lower/loops/simplify_program.h"

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The ranges known inside the statement.
arith::Ranges inside(const Stmt& s, const arith::Ranges& outside) {
  arith::Ranges ranges = outside;
  if (const auto* loop = as<For>(s)) {
    ranges.enter(*loop);
    // A loop that provably runs once is dropped even if its extent is not a constant.
    if (is_int(arith::simplify(loop->extent, outside), 1)) {
      ranges.set(loop->var, arith::Interval::point(0));
    }
  }
  if (const auto* let = as<Let>(s)) ranges.enter(*let);
  return ranges;
}

bool has_context(const Stmt& s) { return s->kind == StmtKind::For || s->kind == StmtKind::Let; }

// Simplifies the right side of each conjunction under the assumption that its left side holds. Adds
// the facts that follow from the whole condition to `ranges`.
Expr simplified_condition(const Expr& condition, arith::Ranges& ranges) {
  const auto* both = as<Binary>(condition);
  if (both != nullptr && both->op == BinaryOp::And) {
    const Expr left = simplified_condition(both->a, ranges);
    return left && simplified_condition(both->b, ranges);
  }
  const Expr result = arith::simplify(condition, ranges);
  ranges.assume(result);
  return result;
}

}  // namespace

Stmt simplified(const Stmt& s, const arith::Ranges& ranges) {
  if (const auto* guard = as<If>(s)) {
    arith::Ranges guarded = ranges;
    const Expr condition = simplified_condition(guard->condition, guarded);
    const Stmt then = simplified(guard->then, guarded);
    return is_empty(then) ? then : make_if(condition, then, s->location);
  }
  const Stmt result = map_children(
      s, [&](const Expr& e) { return arith::simplify(e, ranges); },
      [&](const Stmt& child) {
        return has_context(s) ? simplified(child, inside(s, ranges)) : simplified(child, ranges);
      });
  const auto* loop = as<For>(result);
  if (loop == nullptr || loop->loop == LoopKind::Thread) return result;
  const int64_t* extent = int_value(loop->extent);
  if (extent != nullptr && *extent <= 0) return make_empty();
  return is_int(loop->extent, 1) || is_empty(loop->body) ? loop->body : result;
}

void simplify_program(Lowering& lowering) {
  lowering.program.body =
      simplified(lowering.program.body, ranges_of_symbols(lowering.program.params));
}

}  // namespace texloom::lower
