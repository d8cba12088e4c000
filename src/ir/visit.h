// The one way to look at nodes and to rewrite them.
//
//   visit(e, lambdas...)    calls the lambda for e's kind; a kind without one does not compile
//                           (a generic lambda `[](const auto&)` stands for all others)
//   walk(x, lambdas...)     all nodes of x, parents first; kinds without a lambda are passed over
//   rewrite(x, lambdas...)  children first; a lambda gets the rebuilt node and its handle and
//                           returns the replacement; each shared node is rewritten once
//   map_children(x, f...)   x with f applied to its direct children: for passes that carry
//                           context down
#pragma once

#include <memory_resource>
#include <type_traits>
#include <unordered_map>

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

// The same node when nothing changed. Nodes are rebuilt by the make_ functions, so constants
// fold on the way.
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

template <class F>
class Rewriter {
 public:
  explicit Rewriter(F& f) : f_(f) {}

  Expr expr(const Expr& e) {
    if (e->size == 1) return replacement(e);  // leaves are quicker looked at than looked up
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
  std::pmr::monotonic_buffer_resource memory_;  // thousands of entries, all dropped together
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
Expr rewrite(const Expr& e, Fs... fs) {
  Overloaded overloaded{fs...};
  return detail::Rewriter(overloaded).expr(e);
}
template <class... Fs>
Stmt rewrite(const Stmt& s, Fs... fs) {
  Overloaded overloaded{fs...};
  return detail::Rewriter(overloaded).stmt(s);
}

using Substitution = std::unordered_map<Expr, Expr, RefHash, RefSame>;
// Replaces variables by values, all at once.
Expr substitute(const Expr& e, const Substitution& values);
Stmt substitute(const Stmt& s, const Substitution& values);

bool uses_var(const Expr& e, const Expr& var);

}  // namespace texloom::ir
