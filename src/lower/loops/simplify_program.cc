#include "lower/loops/simplify_program.h"

#include <algorithm>

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

// The condition without the conjuncts `var < end` and `var + k < end + k`; null if nothing is left.
// Sets `end` to the least of the ends.
Expr without_end(const Expr& condition, const Expr& var, int64_t& end) {
  const auto* n = as<Binary>(condition);
  if (n == nullptr) return condition;
  if (n->op == BinaryOp::And) {
    const Expr left = without_end(n->a, var, end), right = without_end(n->b, var, end);
    if (!left || !right) return left ? left : right;
    return left && right;
  }
  if (n->op != BinaryOp::Lt || int_value(n->b) == nullptr) return condition;
  const auto* moved = as<Binary>(n->a);  // var + constant
  const bool sum = moved != nullptr && moved->op == BinaryOp::Add && int_value(moved->b) != nullptr;
  if (!var.same_as(sum ? moved->a : n->a)) return condition;
  const int64_t moved_by = sum ? *int_value(moved->b) : 0;
  int64_t own = 0;
  if (__builtin_sub_overflow(*int_value(n->b), moved_by, &own) || own < 1) return condition;
  end = std::min(end, own);
  return {};
}

// Shortens a loop to the iterations for which the guard around its whole body holds.
Stmt ended(const For& loop, const Stmt& self) {
  const auto* guard = as<If>(loop.body);
  const int64_t* extent = int_value(loop.extent);
  if (guard == nullptr || extent == nullptr) return self;
  int64_t end = *extent;
  const Expr rest = without_end(guard->condition, loop.var, end);
  if (end == *extent) return self;
  const Stmt body = rest ? make_if(rest, guard->then, guard->location) : guard->then;
  return make_for(loop.var, make_int(end, loop.extent->type), loop.loop, body, self->location);
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
  const bool is_needed = loop->loop == LoopKind::Parallel;  // a parallel loop becomes the grid
  const int64_t* extent = int_value(loop->extent);
  if (extent != nullptr && *extent <= 0) return make_empty();
  if ((is_int(loop->extent, 1) && !is_needed) || is_empty(loop->body)) return loop->body;
  return ended(*loop, result);
}

void simplify_program(Lowering& lowering) {
  lowering.program.body =
      simplified(lowering.program.body, ranges_of_symbols(lowering.program.params));
}

}  // namespace texloom::lower
