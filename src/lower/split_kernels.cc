#include "lower/split_kernels.h"

#include <algorithm>

#include "ir/verify_stages.h"
#include "ir/visit.h"
#include "lower/kernel_builder.h"
#include "schedule/kernel_nests.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// Allocations are nested around the nests that may use them; what is left are sequences and loops.
class PlanBuilder {
 public:
  explicit PlanBuilder(Lowering& lowering) : lowering_(lowering) {}

  Stmt plan(const Stmt& s) {
    if (const auto* n = as<Nest>(s)) return launch(*n);
    check_belongs(s);
    if (const auto* n = as<Allocate>(s)) {
      const Stmt body = plan(n->body);
      return make_allocate(n->buffer, with_free(n->buffer, body), n->location);
    }
    const auto* loop = as<For>(s);
    if (loop != nullptr) loops_.push_back(loop);
    const Stmt result = map_children(
        s, [](const Expr& e) { return e; }, [this](const Stmt& child) { return plan(child); });
    if (loop != nullptr) loops_.pop_back();
    return result;
  }

 private:
  // What is outside every nest is in no kernel: it has to be something that a plan can do.
  static void check_belongs(const Stmt& s) {
    const auto* alloca = as<Allocate>(s);
    if (alloca != nullptr && alloca->buffer->memory != MemoryScope::Global) {
      fail(s->location, Code::ScopeTooNarrow, "allocate it inside the nest that uses it",
           "the {} buffer '{}' is allocated outside every kernel",
           to_string(alloca->buffer->memory), alloca->buffer->name);
    }
    const auto* loop = as<For>(s);
    bool belongs =
        allows(Place::Plan, s->kind) && (loop == nullptr || allows(Place::Plan, loop->loop));
    if (loop != nullptr) {
      walk(loop->extent,
           [&](const ExprNode& e) { belongs = belongs && allows(Place::Plan, e.kind); });
    }
    if (belongs) return;
    fail(s->location, Code::UnboundStage, "put it into a nest with a loop over threads",
         "a statement outside every nest is in no kernel, and has no thread to run it");
  }

  Stmt launch(const Nest& nest) {
    auto& kernels = lowering_.program.kernels;
    const auto number = static_cast<int>(kernels.size());
    kernels.push_back(build_kernel(fmt::format("{}_kernel{}", lowering_.program.name, number), nest,
                                   {lowering_.program.symbols, loops_}, lowering_.target));
    return make_launch(number, nest.location);
  }

  bool uses(const Stmt& s, const Buffer& buffer) const {
    bool found = false;
    walk(s, [&](const Launch& n) {
      const auto& params = lowering_.program.kernels[static_cast<size_t>(n.kernel)].params;
      found |= std::any_of(params.begin(), params.end(),
                           [&](const KernelParam& p) { return p.buffer.same_as(buffer); });
    });
    return found;
  }

  // Frees the buffer behind the last statement that uses it.
  Stmt with_free(const Buffer& buffer, const Stmt& body) const {
    const Stmt free = make_free(buffer, body->location);
    if (const auto* n = as<Allocate>(body)) {
      return make_allocate(n->buffer, with_free(buffer, n->body), n->location);
    }
    const auto* seq = as<Seq>(body);
    if (seq == nullptr) return make_seq({body, free});
    Stmts statements = seq->statements;
    for (size_t i = statements.size(); i-- > 0;) {
      if (!uses(statements[i], buffer)) continue;
      if (as<Allocate>(statements[i]) != nullptr) {
        statements[i] = with_free(buffer, statements[i]);
      } else {
        statements.insert(statements.begin() + static_cast<ptrdiff_t>(i) + 1, free);
      }
      break;
    }
    return make_seq(std::move(statements));
  }

  Lowering& lowering_;
  std::vector<const For*> loops_;  // around, outermost first
};

}  // namespace

void split_kernels(Lowering& lowering) {
  lowering.program.body = PlanBuilder(lowering).plan(lowering.program.body);
}

bool is_bound_throughout(const Program& program) {
  bool bound = true;
  walk(program.body,
       [&](const Nest& nest) { bound = bound && schedule::has_thread_loop(nest.body); });
  return bound;
}

}  // namespace texloom::lower
