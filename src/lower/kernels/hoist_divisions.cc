#include "lower/kernels/hoist_divisions.h"

#include <algorithm>
#include <unordered_set>

#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/evaluation.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool is_quotient(BinaryOp op) { return op == BinaryOp::FloorDiv || op == BinaryOp::Div; }

// Whether this is a division by a positive constant whose operands cannot fail, so that it may be
// evaluated speculatively.
bool may_move(const Binary& n) {
  const int64_t* divisor = int_value(n.b);
  return is_division(n.op) && arith::is_index_type(n.type) && divisor != nullptr && *divisor > 0 &&
         !arith::reads_memory(n.a) && !Failures().possible_in(n.a);
}

bool has_movable_divisions(const Stmt& s) {
  return any_of(s, [](const Binary& n) { return may_move(n); });
}

// Collects the divisions in one loop that use nothing defined in it.
class Hoisted {
 public:
  explicit Hoisted(const For& loop) {
    defined_.insert(loop.var.get());
    walk(
        loop.body, [&](const For& n) { defined_.insert(n.var.get()); },
        [&](const Let& n) { defined_.insert(n.var.get()); });
  }

  // Replaces the divisions by variables.
  Stmt stmt(const Stmt& s) {
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

  // Puts the definitions of the variables around the loop.
  Stmt with_bindings(Stmt loop) const {
    for (auto b = bindings_.rbegin(); b != bindings_.rend(); ++b) {
      loop = make_let(b->var, b->value, loop, loop->location);
    }
    return loop;
  }

 private:
  struct Binding {
    Expr var, value;
  };

  Expr expr(const Expr& e) {
    if (e->size == 1) return e;
    return done_.find_or(e, [&] {
      const auto* n = as<Binary>(e);
      const bool moves = n != nullptr && may_move(*n) && is_invariant(e);
      return moves ? variable_of(*n, e)
                   : map_children(e, [&](const Expr& child) { return expr(child); });
    });
  }

  bool is_invariant(const Expr& e) const {
    return !any_of(e, [&](const Var& v) { return defined_.contains(&v); });
  }

  Expr variable_of(const Binary& n, const Expr& e) {
    const auto known = std::find_if(bindings_.begin(), bindings_.end(),
                                    [&](const Binding& b) { return equal(b.value, e); });
    if (known != bindings_.end()) return known->var;
    const char* name = is_quotient(n.op) ? "quotient" : "remainder";
    bindings_.push_back({make_var(name, e->type, e->location), e});
    return bindings_.back().var;
  }

  std::unordered_set<const ExprNode*> defined_;
  std::vector<Binding> bindings_;
  Rewritten done_;
};

Stmt hoisted(const Stmt& s) {
  const auto* loop = as<For>(s);
  if (loop == nullptr) {
    return map_children(
        s, [](const Expr& e) { return e; }, [](const Stmt& child) { return hoisted(child); });
  }
  Hoisted divisions(*loop);
  const Stmt body = hoisted(divisions.stmt(loop->body));
  return divisions.with_bindings(
      make_for(loop->var, loop->extent, loop->loop, body, loop->location));
}

}  // namespace

void hoist_divisions(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) {
    if (has_movable_divisions(kernel.body)) kernel.body = hoisted(kernel.body);
  }
}

}  // namespace texloom::lower
