#include "ir/analysis/uniform_values.h"

#include <algorithm>

#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::ir {

UniformValues::UniformValues(const Kernel& kernel) {
  for (const ThreadAxis& axis : kernel.axes) {
    if (!axis.tag.block) variables_.insert(axis.var.get());
  }
  follow(kernel.body);
}

UniformValues::UniformValues(const Nest& nest) {
  walk(nest.body, [&](const For& loop) {
    if (loop.loop == LoopKind::Thread && !loop.tag.block) variables_.insert(loop.var.get());
  });
  follow(nest.body);
}

UniformValues UniformValues::of_lanes(const Kernel& kernel) {
  UniformValues lanes;
  for (const ThreadAxis& axis : kernel.axes) {
    if (!axis.tag.block && axis.tag.dim == 0) lanes.variables_.insert(axis.var.get());
  }
  lanes.follow(kernel.body);
  return lanes;
}

void UniformValues::follow(const Stmt& body) {
  // Repeats until nothing changes: a varying value can make a value of an earlier statement vary in
  // the next iteration of an enclosing loop.
  do {
    changed_ = false;
    visit(body, false);
  } while (changed_);
}

bool UniformValues::varies(const Expr& e) const {
  return any_of(
      e, [&](const Var& v) { return variables_.contains(&v); },
      [&](const Load& n) { return varies(n.buffer); },
      // a foreign function may ask for the index of its thread
      [](const ForeignCall&) { return true; });
}

void UniformValues::visit(const Stmt& s, bool divergent) {
  if (const auto* loop = as<For>(s); loop != nullptr && varies(loop->extent)) {
    add(loop->var);
    divergent = true;
  }
  if (const auto* loop = as<While>(s)) divergent = divergent || varies(loop->condition);
  if (const auto* guard = as<If>(s)) divergent = divergent || varies(guard->condition);
  if (const auto* let = as<Let>(s); let != nullptr && varies(let->value)) add(let->var);
  if (const auto* shuffle = as<Shuffle>(s)) add(shuffle->var);
  if (const auto* store = as<Store>(s); store != nullptr && is_private(store->buffer->memory)) {
    const bool same = !divergent && !varies(store->value) &&
                      std::none_of(store->indices.begin(), store->indices.end(),
                                   [&](const Expr& index) { return varies(index); });
    if (!same && buffers_.insert(store->buffer.get()).second) changed_ = true;
  }
  if (s->kind == StmtKind::Evaluate || s->kind == StmtKind::FragmentStep) {
    for_each_access(s, [&](const BufferAccess& n) {
      const bool changes = n.writes() && is_private(n.buffer->memory);
      if (changes && buffers_.insert(n.buffer.get()).second) changed_ = true;
    });
  }
  for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { visit(child, divergent); });
}

void UniformValues::add(const Expr& var) {
  if (variables_.insert(var.get()).second) changed_ = true;
}

}  // namespace texloom::ir
