#include "lower/build/auto_unroll.h"

#include <optional>

#include "ir/visit.h"
#include "lower/hints/pragma_number.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using schedule::Pragma;
using schedule::Stage;

namespace {

std::optional<int64_t> number_of(const Stage& stage, std::string_view key, const IterVar* axis) {
  std::optional<int64_t> value;
  for (const Pragma& p : stage.pragmas) {
    if (p.key == key && (axis == nullptr || p.axis.same_as(*axis))) value = pragma_number(stage, p);
  }
  return value;
}

// Marks loops to unroll, inner loops before outer loops.
class AutoUnroller {
 public:
  explicit AutoUnroller(int64_t max_steps) : max_steps_(max_steps) {}

  struct Result {
    Stmt stmt;
    int64_t steps = 0;       // stores and foreign calls, in all copies
    bool has_loops = false;  // whether loops remain that are not unrolled
  };

  Result run(const Stmt& s) const {
    const bool step = s->kind == StmtKind::Store || s->kind == StmtKind::Evaluate;
    Result all{s, step ? 1 : 0, false};
    all.stmt = map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) {
          Result inner = run(child);
          all.steps += inner.steps;
          all.has_loops = all.has_loops || inner.has_loops;
          return inner.stmt;
        });
    const auto* loop = as<For>(all.stmt);
    return loop == nullptr ? all : unrolled(*loop, all);
  }

 private:
  Result unrolled(const For& loop, Result all) const {
    const int64_t* extent = int_value(loop.extent);
    if (loop.loop == LoopKind::Thread || loop.loop == LoopKind::Virtual) return all;
    if (loop.loop == LoopKind::Serial && extent != nullptr && !all.has_loops &&
        *extent <= max_steps_ && *extent * all.steps <= max_steps_) {
      all.stmt = make_for(loop.var, loop.extent, LoopKind::Unrolled, loop.body, loop.location);
    } else if (loop.loop == LoopKind::Serial) {
      all.has_loops = true;
      return all;
    }
    if (extent != nullptr) all.steps *= *extent;
    return all;
  }

  int64_t max_steps_;
};

}  // namespace

Stmt apply_unroll_pragmas(const Stage& stage, const IterVar& axis, Stmt loop) {
  const auto max_steps = number_of(stage, "auto_unroll_max_step", &axis);
  const int64_t is_explicit = number_of(stage, "unroll_explicit", nullptr).value_or(1);
  if (!max_steps || is_explicit == 0) return loop;
  return AutoUnroller(*max_steps).run(loop).stmt;
}

}  // namespace texloom::lower
