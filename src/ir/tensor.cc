#include "ir/tensor.h"

#include "ir/leaf_expr.h"
#include "support/check.h"

namespace texloom::ir {

std::string to_string(ThreadTag tag) {
  return std::string(tag.block ? "blockIdx." : "threadIdx.") + "xyz"[tag.dim];
}

std::optional<ThreadTag> parse_thread_tag(std::string_view text) {
  for (const bool block : {true, false}) {
    for (uint8_t dim = 0; dim < 3; ++dim) {
      if (to_string({block, dim}) == text) return ThreadTag{block, dim};
    }
  }
  return std::nullopt;
}

const std::string& IterVarNode::name() const { return as<Var>(var)->name; }

IterVar make_iter_var(Expr var, Expr min, Expr extent, IterKind kind, SourceLocation location) {
  TL_CHECK(as<Var>(var) != nullptr);
  auto* node = new IterVarNode;
  node->var = std::move(var);
  node->min = std::move(min);
  node->extent = std::move(extent);
  node->kind = kind;
  node->location = std::move(location);
  return IterVar(node);
}

IterVar make_thread_axis(ThreadTag tag, SourceLocation location) {
  auto* node = new IterVarNode;
  node->var = make_var(to_string(tag), kInt32, location);
  node->kind = IterKind::Thread;
  node->tag = tag;
  node->location = std::move(location);
  return IterVar(node);
}

IterVar make_virtual_thread_axis(std::string name, SourceLocation location) {
  Expr var = make_var(std::move(name), kInt32, location);
  return make_iter_var(std::move(var), {}, {}, IterKind::VirtualThread, std::move(location));
}

}  // namespace texloom::ir
