// Statements without their expressions, which may share so much that walking them takes too long.
#pragma once

#include "ir/visit.h"

namespace texloom::codegen::opencl {

// Like ir::walk: parents first, kinds without a lambda are passed over.
template <class... Fs>
void walk_statements(const ir::Stmt& body, Fs... fs) {
  ir::Overloaded overloaded{fs...};
  const auto walk = [&](const ir::Stmt& s, const auto& self) -> void {
    visit(s, [&](const auto& node) { ir::detail::call_if(overloaded, node); });
    for_each_child(s, [](const ir::Expr&) {}, [&](const ir::Stmt& child) { self(child, self); });
  };
  walk(body, walk);
}

}  // namespace texloom::codegen::opencl
