#include "ir/interpret/stepper.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/interpret/fragment_loops.h"

namespace texloom::ir {

void Stepper::push(const Stmt& s) {
  const bool has_line = s->location.known() || frames_.empty();
  frames_.push_back({&s, has_line ? &s->location : frames_.back().line});
  runner_.enter(*frames_.back().line);
  runner_.take_steps(1);
  begin(frames_.back());
}

// Prepares the statements inside, and computes how many times they run.
void Stepper::begin(Frame& frame) {
  const Stmt& s = *frame.stmt;
  frame.extent = 0;
  visit(
      s,
      [&](const Store& n) {
        if (!copies_) return evaluator_.store(n);
        groups_.back().push_back(evaluator_.begin_copy(n));
      },
      [&](const TextureStore& n) { evaluator_.store(n); },
      [](const Evaluate&) { TL_UNREACHABLE("foreign calls are refused earlier"); },
      [](const Prefetch&) {},
      [&](const For& n) {
        frame.extent =
            evaluator_.evaluate_decision(n.extent, &n, n.location, "the extent of the loop is");
      },
      [&](const If& n) {
        const int64_t holds =
            evaluator_.evaluate_decision(n.condition, &n, n.location, "the condition is");
        frame.extent = holds != 0 ? 1 : 0;
      },
      [&](const While&) { frame.extent = std::numeric_limits<int64_t>::max(); },
      [&](const Seq& n) { frame.extent = static_cast<int64_t>(n.statements.size()); },
      [&](const Let& n) {
        evaluator_.bind(n.var, evaluator_.evaluate(n.value));
        frame.extent = 1;
      },
      [&](const Nest&) { frame.extent = 1; }, [&](const Pipelined&) { frame.extent = 1; },
      [&](const Allocate& n) {
        allocate(n.buffer);
        frame.extent = 1;
      },
      [&](const Free& n) { view_.own.erase(n.buffer.get()); }, [](const Barrier&) {},
      [&](const AsyncCopies&) {
        copies_ = true;
        groups_.emplace_back();
        frame.extent = 1;
      },
      [&](const AwaitCopies& n) { await(n); },
      [&](const FragmentStep& n) {
        if (!makes(n)) return;
        if (n.op == FragmentOp::Mma) return evaluator_.multiply(n);
        frame.extent = 1;
      },
      [&](const Shuffle&) { frame.extent = 1; }, [&](const LastBlock&) { frame.extent = 1; },
      [](const Launch&) {});
}

// The copies are made as late as the program allows, so that reads that come too early find other
// values.
void Stepper::await(const AwaitCopies& n) {
  for (; groups_.size() > static_cast<size_t>(n.pending); groups_.pop_front()) {
    for (const Evaluator::Copy& copy : groups_.front()) evaluator_.finish(copy);
  }
}

// The threads of a SIMD-group make a step together, on equal values, and one of them writes to
// memory: what the others have reaches nothing. But a second one loads, so that a thread reads each
// element that another one writes, whichever that is: a missing barrier is a race.
bool Stepper::makes(const FragmentStep& step) const {
  if (!runner_.id()) return true;
  const int64_t thread = runner_.id()->thread[0];
  return thread == 0 || (thread == 1 && step.op == FragmentOp::Load);
}

const Stmt& Stepper::loops_of(const FragmentStep& step) {
  Stmt& loops = runner_.state().fragment_loops[&step];
  if (!loops) loops = fragment_loops(step, runner_.state().logical);
  return loops;
}

void Stepper::allocate(const Buffer& buffer) {
  const Layout& layout = buffer->layout;
  runner_.take_steps(layout.row_count() * layout.col_count() * layout.lane_count());
  const Binding& binding = view_.allocate(*buffer);
  if (buffer->origin.is_zero()) return;
  evaluator_.bind(buffer->origin.x, binding.x);
  evaluator_.bind(buffer->origin.y, binding.y);
}

// The inner statement that runs next; null after the last.
const Stmt* Stepper::next_child(Frame& frame) {
  if (frame.next >= frame.extent) return nullptr;
  const int64_t i = frame.next++;
  return visit(
      *frame.stmt,
      [&](const For& n) {
        evaluator_.bind(n.var, i);
        return &n.body;
      },
      [](const If& n) { return &n.then; },
      [&](const While& n) {
        const int64_t holds =
            evaluator_.evaluate_decision(n.condition, &n, n.location, "the condition is");
        return holds != 0 ? &n.body : nullptr;
      },
      [&](const Seq& n) { return &n.statements[static_cast<size_t>(i)]; },
      [](const Let& n) { return &n.body; }, [](const Shuffle& n) { return &n.body; },
      [](const Nest& n) { return &n.body; }, [](const Pipelined& n) { return &n.body; },
      [](const AsyncCopies& n) { return &n.body; }, [](const Allocate& n) { return &n.body; },
      [](const LastBlock& n) { return &n.body; },
      [&](const FragmentStep& n) { return &loops_of(n); },
      [](const auto&) -> const Stmt* { return nullptr; });
}

std::optional<Stepper::Halt> Stepper::halt_at(StmtKind kind) const {
  switch (kind) {
    case StmtKind::Barrier:
      return Halt::Barrier;
    case StmtKind::Shuffle:
      return Halt::Shuffle;
    case StmtKind::LastBlock:
      return runner_.id() ? std::optional(Halt::LastBlock) : std::nullopt;
    case StmtKind::Launch:
      return Halt::Launch;
    default:
      return std::nullopt;
  }
}

Stepper::Halt Stepper::advance() {
  if (start_ != nullptr) push(*std::exchange(start_, nullptr));
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    const Stmt& s = *frame.stmt;
    const std::optional<Halt> halt = halt_at(s->kind);
    if (halt && frame.next == 0 && s.get() != halted_at_) {
      halted_at_ = s.get();
      return *halt;
    }
    halted_at_ = nullptr;
    if (const Stmt* child = next_child(frame)) {
      push(*child);
    } else {
      if (s->kind == StmtKind::AsyncCopies) copies_ = false;
      frames_.pop_back();
    }
  }
  return Halt::End;
}

bool Stepper::is_where(const Stepper& other) const {
  return std::equal(frames_.begin(), frames_.end(), other.frames_.begin(), other.frames_.end(),
                    [](const Frame& a, const Frame& b) {
                      return a.stmt->get() == b.stmt->get() && a.next == b.next;
                    });
}

}  // namespace texloom::ir
