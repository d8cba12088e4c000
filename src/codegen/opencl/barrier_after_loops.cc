#include "codegen/opencl/barrier_after_loops.h"

#include "ir/visit.h"

namespace texloom::codegen::opencl {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool is_loop(const Stmt& s) { return s->kind == StmtKind::For || s->kind == StmtKind::While; }

// Whether the node contains a branch on which threads may diverge.
template <class Node>
bool has_decision(const Node& node) {
  bool found = false;
  walk(
      node, [&](const If&) { found = true; }, [&](const While&) { found = true; },
      [&](const Select&) { found = true; },
      [&](const For& loop) { found = found || int_value(loop.extent) == nullptr; });
  return found;
}

// Whether a branch lies between the start of `s` and the next barrier. `after`: whether a branch
// lies between the end of `s` and the next barrier.
bool decides(const Stmt& s, bool after) {
  if (s->kind == StmtKind::Barrier) return false;
  if (const auto* n = as<Seq>(s)) {
    for (auto each = n->statements.rbegin(); each != n->statements.rend(); ++each) {
      after = decides(*each, after);
    }
    return after;
  }
  if (const auto* n = as<Allocate>(s)) return decides(n->body, after);
  if (const auto* n = as<Let>(s)) return has_decision(n->value) || decides(n->body, after);
  const auto* loop = as<For>(s);
  if (loop != nullptr && contains<Barrier>(s)) return decides(loop->body, false);
  return after || has_decision(s);
}

Stmt met(const Stmt& s, bool after) {
  if (const auto* seq = as<Seq>(s)) {
    Stmts statements = seq->statements;
    for (size_t i = statements.size(); i-- > 0;) {
      statements[i] = met(seq->statements[i], after);
      after = decides(seq->statements[i], after);
    }
    return make_seq(std::move(statements));
  }
  const bool meets = is_loop(s) && contains<Barrier>(s);
  const Stmt inside = map_children(
      s, [](const Expr& e) { return e; },
      [&](const Stmt& child) { return met(child, after || (meets && decides(child, false))); });
  return meets && after ? make_seq({inside, make_barrier(s->location)}) : inside;
}

}  // namespace

Stmt barrier_after_loops(const Stmt& body) { return met(body, false); }

}  // namespace texloom::codegen::opencl
