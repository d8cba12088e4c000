#include "codegen/llvm/divide_loops.h"

#include <set>

#include "ir/arith/linear.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "support/floor_division.h"

namespace texloom::codegen::native {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr std::size_t kMostParts = 40;
constexpr std::size_t kMostNodes = 20000;  // expressions of all parts together

// Where the truth of a condition on one variable changes: it holds from `at` on, or below `at`.
struct Change {
  int64_t at = 0;
  bool holds_above = false;
};

std::optional<Change> change_of(const Binary& n, const Expr& var) {
  if (n.op != BinaryOp::Lt && n.op != BinaryOp::Le) return std::nullopt;
  if (!arith::is_index_type(n.a->type) || !(uses_var(n.a, var) || uses_var(n.b, var)))
    return std::nullopt;
  const arith::LinearSum room = arith::linear_sum(n.b, {}).plus(arith::linear_sum(n.a, {}), -1);
  const int64_t factor = room.coefficient_of(var);
  if (room.terms.size() != 1 || factor == 0) return std::nullopt;
  // factor * var + above > 0
  const int64_t above = room.constant + (n.op == BinaryOp::Le ? 1 : 0);
  if (factor > 0) return Change{floor_div(-above, factor) + 1, true};
  return Change{-floor_div(-above, -factor), false};
}

// The places inside of the loop where a condition changes, and the number of expressions.
std::set<int64_t> places_in(const For& loop, int64_t extent, std::size_t& nodes) {
  std::set<int64_t> places;
  walk(loop.body, [&](const Binary& n) {
    ++nodes;
    if (const auto change = change_of(n, loop.var)) {
      if (change->at > 0 && change->at < extent) places.insert(change->at);
    }
  });
  return places;
}

// The body for values of the variable from `begin` up to `end`, for which no condition changes that
// is on the variable alone. A condition that is so only after others are decided may change: it
// stays.
Stmt resolved(const Stmt& body, const Expr& var, int64_t begin, int64_t end) {
  return rewrite(
      body,
      [&](const Binary& n, const Expr& self) -> Expr {
        if (const auto change = change_of(n, var)) {
          const bool changes = change->at > begin && change->at < end;
          return changes ? self : make_bool((begin >= change->at) == change->holds_above);
        }
        if (!self->type.is_bool() || !self->type.is_scalar()) return self;
        if (n.op == BinaryOp::And) {
          if (is_true(n.a) || is_false(n.b)) return n.b;
          if (is_true(n.b) || is_false(n.a)) return n.a;
        } else if (n.op == BinaryOp::Or) {
          if (is_false(n.a) || is_true(n.b)) return n.b;
          if (is_false(n.b) || is_true(n.a)) return n.a;
        }
        return self;
      },
      [](const Select& n, const Expr& self) -> Expr {
        if (is_true(n.condition)) return n.if_true;
        return is_false(n.condition) ? n.if_false : self;
      },
      [](const If& n, const Stmt& self) -> Stmt {
        if (is_true(n.condition)) return n.then;
        return is_false(n.condition) ? make_empty() : self;
      });
}

}  // namespace

Stmt divide_loops(const Stmt& body) {
  return rewrite(body, [](const For& loop, const Stmt& self) -> Stmt {
    const int64_t* extent = int_value(loop.extent);
    if (loop.loop != LoopKind::Serial || extent == nullptr || *extent < 2) return self;
    std::size_t nodes = 0;
    std::set<int64_t> places = places_in(loop, *extent, nodes);
    const std::size_t parts = places.size() + 1;
    if (places.empty() || parts > kMostParts || parts * nodes > kMostNodes) return self;
    places.insert(*extent);
    Stmts loops;
    int64_t begin = 0;
    for (const int64_t end : places) {
      const Stmt own = resolved(loop.body, loop.var, begin, end);
      const Expr first = make_int(begin, loop.var->type);
      if (end - begin == 1) {
        loops.push_back(substitute(own, {{loop.var, first}}));
      } else {
        const Expr inner = make_var(as<Var>(loop.var)->name, loop.var->type);
        loops.push_back(make_for(inner, make_int(end - begin, loop.extent->type), loop.loop,
                                 substitute(own, {{loop.var, inner + first}}), loop.location));
      }
      begin = end;
    }
    return make_seq(std::move(loops));
  });
}

}  // namespace texloom::codegen::native
