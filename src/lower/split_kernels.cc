#include "lower/split_kernels.h"

#include <algorithm>
#include <unordered_set>

#include "ir/verify_stages.h"
#include "ir/visit.h"
#include "lower/kernel_builder.h"
#include "schedule/kernel_nests.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// Memory of a loop's iteration is allocated around the nests that use it; what is left are
// sequences and loops.
class PlanBuilder {
 public:
  explicit PlanBuilder(Lowering& lowering) : lowering_(lowering) {}

  Stmt plan_of_program() {
    const Stmt body = plan(lowering_.program.body);
    return with_frees(lowering_.program.temporaries, body);
  }

 private:
  Stmt plan(const Stmt& s) {
    if (const auto* n = as<Nest>(s)) return launch(*n);
    check_belongs(s);
    if (const auto* n = as<Allocate>(s)) {
      const Stmt body = plan(n->body);
      return make_allocate(n->buffer, with_frees({n->buffer}, body), n->location);
    }
    const auto* loop = as<For>(s);
    if (loop != nullptr) loops_.push_back(loop);
    const Stmt result = map_children(
        s, [](const Expr& e) { return e; }, [this](const Stmt& child) { return plan(child); });
    if (loop != nullptr) loops_.pop_back();
    return result;
  }

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

  // Those of the buffers that kernels launched by the statement use, which leave the list.
  std::vector<Buffer> taken_by(const Stmt& s, std::vector<Buffer>& buffers) const {
    std::unordered_set<const BufferNode*> used;
    walk(s, [&](const Launch& n) {
      for (const KernelParam& p : lowering_.program.kernels[static_cast<size_t>(n.kernel)].params) {
        used.insert(p.buffer.get());
      }
    });
    const auto rest = std::stable_partition(
        buffers.begin(), buffers.end(), [&](const Buffer& b) { return !used.contains(b.get()); });
    std::vector<Buffer> taken(rest, buffers.end());
    buffers.erase(rest, buffers.end());
    return taken;
  }

  // Frees each buffer behind the last statement that uses it.
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

  Lowering& lowering_;
  std::vector<const For*> loops_;  // around, outermost first
};

}  // namespace

void split_kernels(Lowering& lowering) {
  lowering.program.body = PlanBuilder(lowering).plan_of_program();
}

bool is_bound_throughout(const Program& program) {
  bool bound = true;
  walk(program.body,
       [&](const Nest& nest) { bound = bound && schedule::has_thread_loop(nest.body); });
  return bound;
}

}  // namespace texloom::lower
