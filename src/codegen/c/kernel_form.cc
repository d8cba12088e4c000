#include "codegen/c/kernel_form.h"

#include <algorithm>
#include <set>

#include "codegen/legalize/align_access.h"
#include "codegen/legalize/kernel_ranges.h"
#include "ir/analysis/code_size.h"
#include "ir/analysis/fragments.h"
#include "ir/arith/modular.h"
#include "ir/visit.h"

namespace texloom::codegen {

using ir::Expr;
using ir::Stmt;

namespace {

// The number of stores in a long loop body. The schedule has already unrolled such a body. NVIDIA's
// compiler would unroll it further, and then a thread's 128 sums would leave no registers for
// values loaded ahead.
constexpr int64_t kLongBody = 32;

// Asks for unrolling only if the number of iterations is known: compilers warn of loops that they
// cannot unroll.
UnrollHint unroll_hint(const ir::For& loop) {
  if (loop.loop == ir::LoopKind::Unrolled && int_value(loop.extent) != nullptr) {
    return UnrollHint::Unroll;
  }
  return ir::count_stores(loop.body) >= kLongBody ? UnrollHint::Leave : UnrollHint::None;
}

bool is_store(const Stmt& s) {
  return s->kind == ir::StmtKind::Store || s->kind == ir::StmtKind::TextureStore;
}

// Whether the threads of a block wait for one another there.
bool is_meeting(ir::StmtKind kind) {
  return kind == ir::StmtKind::Barrier || kind == ir::StmtKind::LastBlock;
}
bool waits(const Stmt& s) { return ir::contains<ir::Barrier>(s) || ir::contains<ir::LastBlock>(s); }

// Whether the statement reads and writes one buffer in global memory.
bool exchanges(const Stmt& s) {
  std::unordered_set<const ir::BufferNode*> read, written;
  ir::walk_once(
      s, [&](const ir::Load& n) { read.insert(n.buffer.get()); },
      [&](const ir::Store& n) { written.insert(n.buffer.get()); },
      [&](const ir::Pointer& n) {
        if (ir::reads(n.access)) read.insert(n.buffer.get());
        if (ir::writes(n.access)) written.insert(n.buffer.get());
      });
  return std::ranges::any_of(written, [&](const ir::BufferNode* each) {
    return each->memory == ir::MemoryScope::Global && read.contains(each);
  });
}

// Whether a thread may read what another one wrote on the same side of a LastBlock, so that only a
// barrier is between them.
bool exchanges_beside_last_block(const Stmt& body) {
  bool inside = false;
  ir::walk_statements(body, [&](const ir::LastBlock& n) { inside = inside || exchanges(n.body); });
  return inside || exchanges(ir::rewrite(body, [](const ir::LastBlock& n, const Stmt&) {
           return make_last_block(n.counters, n.index, n.count, n.flag, ir::make_empty(),
                                  n.location);
         }));
}

class FormFinder {
 public:
  explicit FormFinder(const Dialect& dialect) : dialect_(dialect) {}

  KernelForm run(const ir::Kernel& kernel) {
    stmt(kernel.body);
    find_returns(kernel.body);
    for (const auto& [buffer, widths] : widths_) form_.arrays.emplace(buffer, array_form(widths));
    for (const ir::KernelParam& param : kernel.params) {
      if (meets_ && param.access == ir::Access::ReadWrite) {
        form_.exchanged.insert(param.buffer.get());
      }
    }
    find_aligned_steps(kernel);
    form_.fences_parameters =
        takes_ticket_ ? exchanges_beside_last_block(kernel.body) : !form_.exchanged.empty();
    return std::move(form_);
  }

 private:
  static constexpr int kLoadedTogether = 8, kStoredTogether = 2;  // elements

  // The memory of a step that loads or stores a fragment, and how many elements it moves together.
  struct Moved {
    const ir::Pointer* pointer = nullptr;  // null for other steps
    int together = 0;
  };
  static Moved moved_by(const ir::FragmentStep& n) {
    if (n.op == ir::FragmentOp::Load) return {&n.pointer(1), kLoadedTogether};
    if (n.op == ir::FragmentOp::Store) return {&n.pointer(0), kStoredTogether};
    return {};
  }

  void find_aligned_steps(const ir::Kernel& kernel) {
    if (!ir::has_fragment_steps(kernel.body)) return;
    const ir::arith::Ranges ranges = ranges_of(kernel);
    walk_statements(kernel.body, [&](const ir::FragmentStep& n) {
      const auto [pointer, together] = moved_by(n);
      if (pointer == nullptr) return;
      const bool is_aligned_array = pointer->buffer->memory == ir::MemoryScope::Global ||
                                    form_.array(pointer->buffer).aligned >= together;
      const auto divides = [&, count = together](const Expr& e) {
        return ir::arith::modular(e, ranges).is_multiple_of(count);
      };
      if (is_aligned_array && divides(pointer->indices.front()) && divides(pointer->offset) &&
          divides(n.operands[2])) {
        form_.aligned_steps.insert(&n);
      }
    });
  }

  using Widths = std::set<int>;  // lanes of the accesses to one array; 1 if an access is unaligned

  static ArrayForm array_form(const Widths& widths) {
    const int widest = *widths.rbegin();
    if (widths.size() == 1) return {.lanes = widest};
    return {.aligned = widest};
  }

  void find_returns(const Stmt& s) {
    if (const auto* let = as<ir::Let>(s)) return find_returns(let->body);
    if (const auto* allocate = as<ir::Allocate>(s)) return find_returns(allocate->body);
    const auto* guard = as<ir::If>(s);
    if (guard == nullptr || is_store(guard->then) || waits(guard->then)) return;
    form_.returns.insert(guard);
    find_returns(guard->then);
  }

  void stmt(const Stmt& s) {
    if (const auto* n = as<ir::Store>(s)) see(n->buffer, n->indices.front());
    if (const auto* n = as<ir::FragmentStep>(s)) see_step(*n);
    if (const auto* n = as<ir::For>(s)) form_.loops.emplace(n, unroll_hint(*n));
    if (const auto* n = as<ir::LastBlock>(s)) {
      widths_[n->flag.get()].insert(1);
      takes_ticket_ = true;
    }
    meets_ = meets_ || is_meeting(s->kind);
    for_each_child(s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  }

  void expr(const Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    if (const auto* n = as<ir::Load>(e)) see(n->buffer, n->indices.front());
    if (const auto* n = as<ir::Pointer>(e)) see(n->buffer, n->indices.front());
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  void see(const ir::Buffer& buffer, const Expr& index) {
    if (buffer->memory == ir::MemoryScope::Global) return;
    widths_[buffer.get()].insert(vector_number(*buffer, index, dialect_) ? index->type.lanes : 1);
  }

  // Shared arrays begin where steps move elements together, whatever other statements access.
  void see_step(const ir::FragmentStep& n) {
    const auto [pointer, together] = moved_by(n);
    if (pointer == nullptr || pointer->buffer->memory != ir::MemoryScope::Shared) return;
    widths_[pointer->buffer.get()].insert(together);
  }

  const Dialect& dialect_;
  KernelForm form_;
  bool meets_ = false;         // whether the kernel has a barrier or a LastBlock
  bool takes_ticket_ = false;  // whether the kernel has a LastBlock
  std::unordered_map<const ir::BufferNode*, Widths> widths_;
  std::unordered_set<const ir::ExprNode*> seen_;
};

}  // namespace

KernelForm form_of(const ir::Kernel& kernel, const Dialect& dialect) {
  return FormFinder(dialect).run(kernel);
}

}  // namespace texloom::codegen
