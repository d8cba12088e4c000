#include "codegen/legalize/unused_values.h"

#include <unordered_set>

#include "ir/visit.h"

namespace texloom::codegen {

using ir::Expr;
using ir::Stmt;

namespace {

// Works from the inside out, so that uses of a variable or an array are seen before its definition.
class Dropper {
 public:
  Stmt stmt(const Stmt& s) {
    if (const auto* let = as<ir::Let>(s)) {
      const Stmt body = stmt(let->body);
      if (!used_.contains(let->var.get())) return body;
      return make_let(let->var, expr(let->value), body, let->location);
    }
    if (const auto* array = as<ir::Allocate>(s)) {
      const Stmt body = stmt(array->body);
      if (!used_.contains(array->buffer.get())) return body;
      return make_allocate(array->buffer, body, array->location);
    }
    if (const auto* store = as<ir::Store>(s)) used_.insert(store->buffer.get());
    if (const auto* last = as<ir::LastBlock>(s)) used_.insert(last->flag.get());
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  Expr expr(const Expr& e) {
    walk(
        e, [&](const ir::Var& v) { used_.insert(&v); },
        [&](const ir::Load& load) { used_.insert(load.buffer.get()); },
        [&](const ir::Pointer& n) { used_.insert(n.buffer.get()); });
    return e;
  }

  std::unordered_set<const void*> used_;  // variables and buffers
};

}  // namespace

Stmt drop_unused_values(const Stmt& body) { return Dropper().stmt(body); }

}  // namespace texloom::codegen
