#include "lower/kernels/unique_definitions.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/visit.h"

namespace texloom::lower {

using ir::Buffer;
using ir::Expr;
using ir::Stmt;

namespace {

class DefinitionSplitter {
 public:
  Stmt stmt(const Stmt& s) {
    if (const auto* n = as<ir::For>(s)) {
      const Expr extent = expr(n->extent);
      const Expr var = defined(n->var);
      return make_for(var, extent, n->loop, scope(n->var, n->body), n->location);
    }
    if (const auto* n = as<ir::Let>(s)) {
      const Expr value = expr(n->value);
      const Expr var = defined(n->var);
      return make_let(var, value, scope(n->var, n->body), n->location);
    }
    if (const auto* n = as<ir::Allocate>(s)) {
      const Buffer buffer = defined(n->buffer);
      return make_allocate(buffer, scope(n->buffer, n->body), n->location);
    }
    if (const auto* n = as<ir::Store>(s)) {
      return make_store(current(n->buffer), {expr(n->indices.front())}, expr(n->value),
                        n->location);
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  // Returns the variable or buffer itself at its first definition, and a new variable or buffer at
  // later definitions.
  Expr defined(const Expr& var) {
    if (defined_.insert(var.get()).second) return var;
    memo_.clear();
    return vars_[var.get()] = make_var(as<ir::Var>(var)->name, var->type, var->location);
  }
  Buffer defined(const Buffer& buffer) {
    if (defined_.insert(buffer.get()).second || buffer->memory == ir::MemoryScope::Shared) {
      return buffer;
    }
    memo_.clear();
    return buffers_[buffer.get()] = make_buffer_with_layout(
               buffer->name, buffer->type, buffer->layout, buffer->memory, buffer->location);
  }

  template <class Node>
  Stmt scope(const Ref<Node>& definition, const Stmt& body) {
    Stmt result = stmt(body);
    vars_.erase(definition.get());
    buffers_.erase(definition.get());
    memo_.clear();
    return result;
  }

  Expr expr(const Expr& e) {
    if (vars_.empty() && buffers_.empty()) return e;
    if (const auto found = memo_.find(e.get()); found != memo_.end()) return found->second;
    const auto replacement = vars_.find(e.get());
    Expr result = replacement != vars_.end()
                      ? replacement->second
                      : map_children(e, [&](const Expr& child) { return expr(child); });
    if (const auto* load = as<ir::Load>(result); load != nullptr) {
      result = make_load_as(load->type, current(load->buffer), load->indices, load->location);
    }
    if (const auto* n = as<ir::Pointer>(result); n != nullptr) {
      result = make_pointer(n->access, current(n->buffer), n->indices, n->extents, n->offset,
                            n->location);
    }
    return memo_[e.get()] = result;
  }

  Buffer current(const Buffer& buffer) const {
    const auto found = buffers_.find(buffer.get());
    return found == buffers_.end() ? buffer : found->second;
  }

  std::unordered_set<const void*> defined_;
  // The current replacements, keyed by the node in the program.
  std::unordered_map<const void*, Expr> vars_;
  std::unordered_map<const void*, Buffer> buffers_;
  std::unordered_map<const void*, Expr> memo_;
};

}  // namespace

void unique_definitions(Lowering& lowering) {
  for (ir::Kernel& kernel : lowering.program.kernels) kernel.body = unique_definitions(kernel.body);
}

Stmt unique_definitions(const Stmt& body) { return DefinitionSplitter().stmt(body); }

}  // namespace texloom::lower
