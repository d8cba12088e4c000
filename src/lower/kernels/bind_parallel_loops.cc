#include "lower/kernels/bind_parallel_loops.h"

#include <algorithm>
#include <cstdint>

#include "ir/visit.h"
#include "schedule/operation/kernel_nests.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr int kGridAxes = 3;

bool is_parallel(const Stmt& s) {
  const auto* loop = as<For>(s);
  return loop != nullptr && loop->loop == LoopKind::Parallel;
}

// How many parallel loops begin here, each directly inside the previous loop.
int depth_of(const Stmt& s) {
  if (const auto* allocate = as<Allocate>(s)) return depth_of(allocate->body);
  return is_parallel(s) ? 1 + depth_of(as<For>(s)->body) : 0;
}

Stmt serial(const Stmt& s) {
  return rewrite(s, [](const For& n, const Stmt& self) {
    return n.loop == LoopKind::Parallel
               ? make_for(n.var, n.extent, LoopKind::Serial, n.body, n.location)
               : self;
  });
}

// Binds at most `axes` of the loops: the number of axes of the grid that are left.
Stmt bound(const Stmt& s, int axes) {
  if (axes == 0) return serial(s);
  if (const auto* allocate = as<Allocate>(s)) {
    return make_allocate(allocate->buffer, bound(allocate->body, axes), s->location);
  }
  if (!is_parallel(s)) return serial(s);
  const auto& loop = *as<For>(s);
  const ThreadTag tag{true, static_cast<uint8_t>(axes - 1)};
  return make_thread_for(loop.var, loop.extent, tag, bound(loop.body, axes - 1), s->location);
}

// Makes all of a nest one block of a grid.
Stmt as_one_block(const Stmt& body) {
  const Expr block = make_var("block", kInt32);
  return make_thread_for(block, make_const(1, kInt32), ThreadTag{true, 0}, body);
}

void refuse(const Nest& nest) {
  walk_statements(nest.body, [&](const For& loop) {
    if (loop.loop != LoopKind::Parallel) return;
    fail(loop.location, Code::UnboundStage,
         "bind the axis to te.thread_axis(\"blockIdx.x\") or threadIdx.x, or compile for a "
         "processor: \"native\"",
         "the loop '{}' of '{}' is parallel, but on a GPU only loops that are bound to threads run "
         "in parallel",
         as<Var>(loop.var)->name, nest.result->name);
  });
}

}  // namespace

void bind_parallel_loops(Lowering& lowering) {
  const bool is_processor = lowering.target.device_class == DeviceClass::Cpu;
  lowering.program.body =
      rewrite(lowering.program.body, [&](const Nest& nest, const Stmt& self) -> Stmt {
        if (!is_processor) refuse(nest);
        const bool is_bound = schedule::has_thread_loop(nest.body);
        const int axes = is_bound ? 0 : std::min(depth_of(nest.body), kGridAxes);
        if (!is_bound && axes == 0 && lowering.target.kind == TargetKind::Llvm)
          return make_nest(nest.result, as_one_block(serial(nest.body)), nest.location);
        if (!any_of(nest.body, [](const For& loop) { return loop.loop == LoopKind::Parallel; })) {
          return self;
        }
        // A schedule that binds threads states the parallelism itself.
        return make_nest(nest.result, bound(nest.body, axes), nest.location);
      });
}

}  // namespace texloom::lower
