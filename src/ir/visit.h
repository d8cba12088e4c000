// Visits and rewrites nodes.
//
//   visit(x, lambdas...)     calls the lambda for x's kind; a kind without one does not compile
//                            (a generic lambda `[](const auto&)` handles all others)
//   walk(x, lambdas...)      visits all nodes of x, parents first; skips kinds without a lambda
//   walk_once(x, lambdas...) like walk, but visits each shared expression once: use it if sharing
//                            would make walk() take too long
//   walk_statements(s, ...)  like walk, but visits only statements, no expressions
//   any_of(x, lambdas...)    whether a lambda returns true for a node of x; stops at the first
//   contains<Kind>(x)        whether x has a node of that kind
//   rewrite(x, lambdas...)   children first: a lambda gets the rebuilt node and its handle and
//                            returns the replacement; each shared expression is rewritten once
//   Rewritten                the memo of a top-down rewriter
//   map_children(x, f...)    x with f applied to its direct children: for passes that carry
//                            context down
//
// ir/accesses.h visits the accesses to memory.
#pragma once

#include <memory_resource>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "ir/expr.h"
#include "ir/stmt.h"
#include "support/check.h"
#include "support/function_ref.h"

namespace texloom::ir {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

template <class... Fs>
decltype(auto) visit(const Expr& e, Fs&&... fs) {
  Overloaded overloaded{fs...};
  switch (e->kind) {
#define TL_EXPR(Name, summary) \
  case ExprKind::Name:         \
    return overloaded(static_cast<const Name&>(*e));
#define TL_STMT(Name, summary)
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
  }
  TL_UNREACHABLE();
}

template <class... Fs>
decltype(auto) visit(const Stmt& s, Fs&&... fs) {
  Overloaded overloaded{fs...};
  switch (s->kind) {
#define TL_EXPR(Name, summary)
#define TL_STMT(Name, summary) \
  case StmtKind::Name:         \
    return overloaded(static_cast<const Name&>(*s));
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
  }
  TL_UNREACHABLE();
}

using ExprMap = FunctionRef<Expr(const Expr&)>;
using StmtMap = FunctionRef<Stmt(const Stmt&)>;

// Returns the same node if nothing changed. Otherwise the make_ functions build the new one and
// fold constants.
Expr map_children(const Expr& e, ExprMap map);
Stmt map_children(const Stmt& s, ExprMap map_expr, StmtMap map_stmt);

void for_each_child(const Expr& e, FunctionRef<void(const Expr&)> see);
void for_each_child(const Stmt& s, FunctionRef<void(const Expr&)> see_expr,
                    FunctionRef<void(const Stmt&)> see_stmt);

namespace detail {

template <class F, class Node>
void call_if(F& f, const Node& node) {
  if constexpr (std::is_invocable_v<F&, const Node&>) f(node);
}

// The lambda's answer; false for kinds that it does not handle.
template <class F, class Node>
bool answer_if(F& f, const Node& node) {
  if constexpr (std::is_invocable_v<F&, const Node&>) {
    return f(node);
  } else {
    return false;
  }
}

template <class F>
void walk_expr(const Expr& e, F& f) {
  visit(e, [&](const auto& node) { call_if(f, node); });
  for_each_child(e, [&](const Expr& child) { walk_expr(child, f); });
}

template <class F>
void walk_stmt(const Stmt& s, F& f) {
  visit(s, [&](const auto& node) { call_if(f, node); });
  for_each_child(
      s, [&](const Expr& child) { walk_expr(child, f); },
      [&](const Stmt& child) { walk_stmt(child, f); });
}

using SeenExprs = std::unordered_set<const ExprNode*>;

template <class F>
void walk_expr_once(const Expr& e, F& f, SeenExprs& seen) {
  if (!seen.insert(e.get()).second) return;
  visit(e, [&](const auto& node) { call_if(f, node); });
  for_each_child(e, [&](const Expr& child) { walk_expr_once(child, f, seen); });
}

template <class F>
void walk_stmt_once(const Stmt& s, F& f, SeenExprs& seen) {
  visit(s, [&](const auto& node) { call_if(f, node); });
  for_each_child(
      s, [&](const Expr& child) { walk_expr_once(child, f, seen); },
      [&](const Stmt& child) { walk_stmt_once(child, f, seen); });
}

template <class F>
void walk_stmt_alone(const Stmt& s, F& f) {
  visit(s, [&](const auto& node) { call_if(f, node); });
  for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { walk_stmt_alone(child, f); });
}

template <class F>
bool any_in(const Expr& e, F& f) {
  bool found = visit(e, [&](const auto& node) { return answer_if(f, node); });
  if (found) return true;
  for_each_child(e, [&](const Expr& child) { found = found || any_in(child, f); });
  return found;
}

template <class F>
bool any_in(const Stmt& s, F& f) {
  bool found = visit(s, [&](const auto& node) { return answer_if(f, node); });
  if (found) return true;
  for_each_child(
      s, [&](const Expr& child) { found = found || any_in(child, f); },
      [&](const Stmt& child) { found = found || any_in(child, f); });
  return found;
}

template <class F>
class Rewriter {
 public:
  explicit Rewriter(F& f) : f_(f) {}

  Expr expr(const Expr& e) {
    if (e->size == 1) return replacement(e);  // for leaves a lookup takes longer
    if (const auto found = done_.find(e); found != done_.end()) return found->second;
    const Expr rebuilt = map_children(e, [this](const Expr& child) { return expr(child); });
    Expr result = replacement(rebuilt);
    done_.emplace(e, result);
    return result;
  }

  Stmt stmt(const Stmt& s) {
    const Stmt rebuilt = map_children(
        s, [this](const Expr& child) { return expr(child); },
        [this](const Stmt& child) { return stmt(child); });
    return replacement(rebuilt);
  }

 private:
  template <class Handle>
  Handle replacement(const Handle& self) {
    return visit(self, [&](const auto& node) -> Handle {
      using Node = std::decay_t<decltype(node)>;
      if constexpr (std::is_invocable_v<F&, const Node&, const Handle&>) return f_(node, self);
      return self;
    });
  }

  F& f_;
  std::pmr::monotonic_buffer_resource memory_;  // thousands of entries, freed together
  std::pmr::unordered_map<Expr, Expr, RefHash, RefSame> done_{&memory_};
};

}  // namespace detail

template <class... Fs>
void walk(const Expr& e, Fs... fs) {
  Overloaded overloaded{fs...};
  detail::walk_expr(e, overloaded);
}
template <class... Fs>
void walk(const Stmt& s, Fs... fs) {
  Overloaded overloaded{fs...};
  detail::walk_stmt(s, overloaded);
}

template <class... Fs>
void walk_once(const Expr& e, Fs... fs) {
  Overloaded overloaded{fs...};
  detail::SeenExprs seen;
  detail::walk_expr_once(e, overloaded, seen);
}
template <class... Fs>
void walk_once(const Stmt& s, Fs... fs) {
  Overloaded overloaded{fs...};
  detail::SeenExprs seen;
  detail::walk_stmt_once(s, overloaded, seen);
}

template <class... Fs>
void walk_statements(const Stmt& s, Fs... fs) {
  Overloaded overloaded{fs...};
  detail::walk_stmt_alone(s, overloaded);
}

template <class... Fs>
bool any_of(const Expr& e, Fs... fs) {
  Overloaded overloaded{fs...};
  return detail::any_in(e, overloaded);
}
template <class... Fs>
bool any_of(const Stmt& s, Fs... fs) {
  Overloaded overloaded{fs...};
  return detail::any_in(s, overloaded);
}

template <class Kind, class Handle>
bool contains(const Handle& x) {
  return any_of(x, [](const Kind&) { return true; });
}

template <class... Fs>
Expr rewrite(const Expr& e, Fs... fs) {
  Overloaded overloaded{fs...};
  return detail::Rewriter(overloaded).expr(e);
}
template <class... Fs>
Stmt rewrite(const Stmt& s, Fs... fs) {
  Overloaded overloaded{fs...};
  return detail::Rewriter(overloaded).stmt(s);
}

// The memo of a recursive rewriter that looks at parents first: each shared part is rewritten once.
//
//   Expr expr(const Expr& e) {
//     return done_.find_or(e, [&] { return replacement(e); });
//   }
class Rewritten {
 public:
  template <class Rewrite>
  Expr find_or(const Expr& e, const Rewrite& rewrite_it) {
    if (const auto found = known_.find(e); found != known_.end()) return found->second;
    Expr result = rewrite_it();
    known_.emplace(e, result);
    return result;
  }
  // Call this before the same expression may get a different result.
  void clear() { known_.clear(); }

 private:
  std::unordered_map<Expr, Expr, RefHash, RefSame> known_;
};

using Substitution = std::unordered_map<Expr, Expr, RefHash, RefSame>;
// Replaces all variables by their values simultaneously.
Expr substitute(const Expr& e, const Substitution& values);
Stmt substitute(const Stmt& s, const Substitution& values);

// Whether the variable occurs in the expression.
bool uses_var(const Expr& e, const Expr& var);
bool uses_var(const Stmt& s, const Expr& var);

}  // namespace texloom::ir
