#include "schedule/operation/kernel_nests.h"

#include <algorithm>

#include "ir/analysis/symbolic_extents.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool is_seen_by_all_kernels(const Stmt& s) {
  const auto* n = as<Allocate>(s);
  return n != nullptr && n->buffer->memory == MemoryScope::Global;
}

// Whether the loop with this body has a buffer that is filled ahead of it.
bool fills_ahead(const Stmt& body) {
  bool found = body->kind == StmtKind::Pipelined;
  if (body->kind == StmtKind::For) return found;
  for_each_child(
      body, [](const Expr&) {}, [&](const Stmt& child) { found = found || fills_ahead(child); });
  return found;
}

bool is_loop_of_plan(const Stmt& s) {
  const auto* n = as<For>(s);
  return n != nullptr && (n->loop == LoopKind::Serial || n->loop == LoopKind::Unrolled) &&
         is_extent(n->extent) && !fills_ahead(n->body) && has_threads_throughout(n->body);
}

}  // namespace

Stmt divided_into_kernels(const Stmt& s, StmtMap make) {
  const auto divided = [&](const Stmt& child) { return divided_into_kernels(child, make); };
  if (const auto* loop = as<For>(s); is_loop_of_plan(s)) {
    return make_for(loop->var, loop->extent, LoopKind::Serial, divided(loop->body), loop->location);
  }
  if (as<Seq>(s) == nullptr && !is_seen_by_all_kernels(s)) return make(s);
  return map_children(s, [](const Expr& e) { return e; }, divided);
}

bool has_threads_throughout(const Stmt& s) {
  if (const auto* n = as<Seq>(s)) {
    return std::all_of(n->statements.begin(), n->statements.end(), has_threads_throughout);
  }
  if (is_seen_by_all_kernels(s)) return has_threads_throughout(as<Allocate>(s)->body);
  return has_thread_loop(s);
}

bool has_thread_loop(const Stmt& s) {
  return any_of(s, [](const For& n) { return n.loop == LoopKind::Thread; });
}

}  // namespace texloom::schedule
