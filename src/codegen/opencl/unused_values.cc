#include "codegen/opencl/unused_values.h"

#include <unordered_set>

#include "ir/visit.h"

namespace texloom::codegen::opencl {

using ir::Expr;
using ir::Stmt;

namespace {

// Goes from the inside to the outside, so that what reads a variable is seen before its Let.
class Dropper {
 public:
  Stmt stmt(const Stmt& s) {
    if (const auto* let = as<ir::Let>(s)) {
      const Stmt body = stmt(let->body);
      if (!used_.contains(let->var.get())) return body;
      return make_let(let->var, expr(let->value), body, let->location);
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  Expr expr(const Expr& e) {
    walk(e, [&](const ir::Var& v) { used_.insert(&v); });
    return e;
  }

  std::unordered_set<const ir::ExprNode*> used_;
};

}  // namespace

Stmt drop_unused_values(const Stmt& body) { return Dropper().stmt(body); }

}  // namespace texloom::codegen::opencl
