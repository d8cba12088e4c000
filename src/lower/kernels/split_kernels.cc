#include "lower/kernels/split_kernels.h"

#include <algorithm>
#include <unordered_set>

#include "ir/verify/verify_stages.h"
#include "ir/visit.h"
#include "lower/kernels/kernel_builder.h"
#include "schedule/operation/kernel_nests.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Builds the plan: sequences, loops, and allocations for one iteration of a loop.
class PlanBuilder {
 public:
  explicit PlanBuilder(Lowering& lowering) : lowering_(lowering) {}

  Stmt plan(const Stmt& s) {
    if (const auto* n = as<Nest>(s)) return launch(*n);
    check_belongs(s);
    const auto* loop = as<For>(s);
    if (loop != nullptr) loops_.push_back(loop);
    const Stmt result = map_children(
        s, [](const Expr& e) { return e; }, [this](const Stmt& child) { return plan(child); });
    if (loop != nullptr) loops_.pop_back();
    return result;
  }

 private:
  // Checks a statement outside all nests, and so outside all kernels: a plan must be able to
  // execute it.
  static void check_belongs(const Stmt& s) {
    const auto* alloca = as<Allocate>(s);
    if (alloca != nullptr && alloca->buffer->memory != MemoryScope::Global) {
      fail(s->location, Code::ScopeTooNarrow, "allocate it inside the nest that uses it",
           "the {} buffer '{}' is allocated outside every kernel",
           to_string(alloca->buffer->memory), alloca->buffer->name);
    }
    const auto* loop = as<For>(s);
    bool belongs =
        allows(CodeKind::Plan, s->kind) && (loop == nullptr || allows(CodeKind::Plan, loop->loop));
    if (loop != nullptr) {
      walk(loop->extent,
           [&](const ExprNode& e) { belongs = belongs && allows(CodeKind::Plan, e.kind); });
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

  Lowering& lowering_;
  std::vector<const For*> loops_;  // the enclosing loops, outermost first
};

class TemporaryFreer {
 public:
  explicit TemporaryFreer(const std::vector<Kernel>& kernels) : kernels_(kernels) {}

  // Frees the buffers that the statement allocates.
  Stmt freed(const Stmt& s) const {
    if (const auto* n = as<Allocate>(s)) {
      return make_allocate(n->buffer, with_frees({n->buffer}, freed(n->body)), n->location);
    }
    return map_children(
        s, [](const Expr& e) { return e; }, [this](const Stmt& child) { return freed(child); });
  }

  // Frees each buffer after the last statement that uses it.
  Stmt with_frees(std::vector<Buffer> buffers, const Stmt& body) const {
    const auto* seq = as<Seq>(body);
    Stmts backwards;
    for (size_t i = seq == nullptr ? 1 : seq->statements.size(); i-- > 0;) {
      const Stmt& each = seq == nullptr ? body : seq->statements[i];
      const std::vector<Buffer> ending = taken_by(each, buffers);
      if (const auto* n = as<Allocate>(each); n != nullptr && !ending.empty()) {
        backwards.push_back(make_allocate(n->buffer, with_frees(ending, n->body), n->location));
        continue;
      }
      for (auto b = ending.rbegin(); b != ending.rend(); ++b) {
        backwards.push_back(make_free(*b, each->location));
      }
      backwards.push_back(each);
    }
    return make_seq({backwards.rbegin(), backwards.rend()});
  }

 private:
  // Removes from the list the buffers that kernels launched by the statement use, and returns them.
  std::vector<Buffer> taken_by(const Stmt& s, std::vector<Buffer>& buffers) const {
    std::unordered_set<const BufferNode*> used;
    walk(s, [&](const Launch& n) {
      for (const KernelParam& p : kernels_[static_cast<size_t>(n.kernel)].params) {
        used.insert(p.buffer.get());
      }
    });
    const auto rest = std::stable_partition(
        buffers.begin(), buffers.end(), [&](const Buffer& b) { return !used.contains(b.get()); });
    std::vector<Buffer> taken(rest, buffers.end());
    buffers.erase(rest, buffers.end());
    return taken;
  }

  const std::vector<Kernel>& kernels_;
};

}  // namespace

void launch_nests(Lowering& lowering) {
  lowering.program.body = PlanBuilder(lowering).plan(lowering.program.body);
}

void free_temporaries(Lowering& lowering) {
  Program& program = lowering.program;
  const TemporaryFreer freer(program.kernels);
  program.body = freer.with_frees(program.temporaries, freer.freed(program.body));
}

bool is_bound_throughout(const Program& program) {
  bool bound = true;
  walk(program.body, [&](const Nest& nest) {
    const bool is_parallel =
        any_of(nest.body, [](const For& loop) { return loop.loop == LoopKind::Parallel; });
    bound = bound && (is_parallel || schedule::has_thread_loop(nest.body));
  });
  return bound;
}

}  // namespace texloom::lower
