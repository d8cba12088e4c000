#include "lower/loops/unroll_loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/code_size.h"
#include "ir/visit.h"
#include "support/int128.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr int64_t kMaxStores = 4096;

// Whether the variable selects a lane of a texel.
bool picks_lanes(const Stmt& body, const Expr& var) {
  return any_of(body, [&](const Load& n) {
    if (!n.buffer->is_texture()) return false;
    const LayoutParts& lanes = n.buffer->layout.lanes;
    return std::any_of(lanes.begin(), lanes.end(), [&](const LayoutPart& part) {
      return uses_var(n.indices[static_cast<size_t>(part.axis)], var);
    });
  });
}

// Whether the loop belongs to the launch plan: each iteration launches the same kernels.
bool has_nests(const Stmt& body) { return contains<Nest>(body); }

// `nest` is the number of the nest around the loop.
Stmt unrolled(const For& loop, const Stmt& self, size_t nest, Lowering& lowering) {
  const int64_t* extent = int_value(loop.extent);
  const bool is_kept = loop.loop == LoopKind::Thread || loop.loop == LoopKind::Parallel;
  if (extent == nullptr || is_kept || has_nests(loop.body)) return self;
  const bool wanted = loop.loop == LoopKind::Unrolled ||
                      (*extent <= kTexelLanes && picks_lanes(loop.body, loop.var));
  const int128 stores = int128{*extent} * std::max<int64_t>(count_stores(loop.body), 1);
  if (!wanted || stores > kMaxStores) {
    if (loop.loop == LoopKind::Unrolled) {
      lowering.warnings.push_back(
          {Severity::Warning,
           Code::AnnotationIgnored,
           loop.location,
           fmt::format("the loop '{}' is not unrolled: it would have {} stores, more than {}",
                       as<Var>(loop.var)->name, static_cast<int64_t>(stores), kMaxStores),
           "split the axis and unroll the inner part",
           {}});
    }
    return make_for(loop.var, loop.extent, LoopKind::Serial, loop.body, loop.location);
  }
  if (loop.loop == LoopKind::Unrolled)
    lowering.unrollings.push_back(
        {loop.location, as<Var>(loop.var)->name, *extent, static_cast<int64_t>(stores), nest});
  Stmts copies;
  for (int64_t i = 0; i < *extent; ++i) {
    copies.push_back(substitute(loop.body, {{loop.var, make_int(i, loop.var->type)}}));
  }
  return make_seq(std::move(copies));
}

}  // namespace

void unroll_loops(Lowering& lowering) {
  size_t nests = 0;  // the number of completed nests; no nest contains another
  lowering.program.body = rewrite(
      lowering.program.body,
      [&](const For& loop, const Stmt& self) { return unrolled(loop, self, nests, lowering); },
      [&](const Nest&, const Stmt& self) {
        ++nests;
        return self;
      });
}

}  // namespace texloom::lower
