// The context of running code: who runs it, and where its reports go.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/interpret/access_count.h"
#include "ir/interpret/races.h"
#include "ir/interpret/report.h"
#include "ir/interpret/undefined.h"
#include "ir/stmt.h"
#include "ir/verify/verify_types.h"
#include "support/diagnostic.h"

namespace texloom::ir {

// How many steps are left (InterpretOptions::max_steps).
class StepBudget {
 public:
  // `interruption`: InterpretOptions::interruption
  explicit StepBudget(int64_t steps, std::function<void()> interruption = nullptr)
      : all_(steps), left_(steps), interruption_(std::move(interruption)) {}
  // Takes steps from the budget. Fails with InterpreterLimit, at this line, if too few are left.
  void take(int64_t steps, const SourceLocation& line) {
    if (steps > left_) {
      fail(line, Code::InterpreterLimit, "allow more steps, or give smaller extents",
           "the program takes more than {} steps", all_);
    }
    left_ -= steps;
    if (interruption_ != nullptr && left_ < next_interruption_) {
      next_interruption_ = left_ - kStepsBetweenInterruptions;
      interruption_();
    }
  }

 private:
  static constexpr int64_t kStepsBetweenInterruptions = 1 << 16;

  int64_t all_, left_;
  std::function<void()> interruption_;
  int64_t next_interruption_ = all_ - kStepsBetweenInterruptions;  // how many steps are left then
};

// The state that all code of one run shares. Runners and histories point to its statements.
struct RunState {
  Reporter reporter;
  StepBudget steps;
  UndefinedOrigins origins;
  bool logical = false;            // accesses have one index for each axis: stage Loops
  AccessCounts* counts = nullptr;  // InterpretOptions::counts
  bool eager = false;              // vector conditions evaluate all lanes of both sides: Legalized
  std::unordered_map<const FragmentStep*, Stmt> fragment_loops{};  // what the steps stand for
};

// A thread of a kernel, or the code of a program that has no kernels.
class Runner {
 public:
  explicit Runner(RunState& state) : state_(&state) {}
  Runner(RunState& state, std::string kernel, const ThreadId& id)
      : state_(&state), kernel_(std::move(kernel)), id_(id) {
    if (state.counts != nullptr) counts_ = &(*state.counts)[kernel_];
  }

  RunState& state() const { return *state_; }
  const std::optional<ThreadId>& id() const { return id_; }
  void pass_barrier() { ++interval_; }
  int64_t barriers_passed() const { return interval_; }
  // From now on the thread runs the body of a LastBlock; the tickets must outlive the runner.
  void enter_last_block(const Tickets& tickets) { tickets_ = &tickets; }
  // This runner as an accessor, at this line. The runner must be a thread of a kernel.
  Accessor accessor(const SourceLocation& own) const {
    return {id_.value(), interval_, tickets_, &line_of(own)};
  }

  // Accessing a vector or a texel counts once.
  void count_access(const BufferNode& buffer, bool writes) {
    if (counts_ == nullptr) return;
    AccessCount& count = (*counts_)[&buffer];
    ++(writes ? count.writes : count.reads);
  }

  // Sets the line of the innermost enclosing statement that has one.
  void enter(const SourceLocation& line) { line_ = &line; }
  void take_steps(int64_t steps) { state_->steps.take(steps, *line_); }
  // The node's own line; if unknown, the line of the enclosing statement.
  const SourceLocation& line_of(const SourceLocation& own) const {
    return own.known() ? own : *line_;
  }

  // Reports once for each node; calls `message` only if the report is kept.
  template <class F>
  void report(ReportKind kind, const void* node, const SourceLocation& own, const F& message) {
    if (!state_->reporter.wants(kind, node)) return;
    state_->reporter.add({kind, message(), kernel_, id_, line_of(own)}, node);
  }
  // Reports an undefined value that has a visible effect. `effect` begins the message: "the
  // condition is".
  void report_undefined(const void* node, const SourceLocation& own, Undefined undefined,
                        const std::string& effect) {
    report(ReportKind::Undefined, node, own, [&] {
      const UndefinedOrigin& origin = state_->origins.of(undefined);
      return effect + " an undefined value: " + origin.text + " (" + line_text(origin.location) +
             ")";
    });
  }
  // Calls `text` only for a new origin.
  template <class F>
  Undefined note_undefined(const void* node, int64_t place, const SourceLocation& own,
                           const F& text) {
    return state_->origins.note(node, place, [&] { return UndefinedOrigin{text(), line_of(own)}; });
  }

 private:
  inline static const SourceLocation kNoLine;

  RunState* state_;
  std::string kernel_;
  std::optional<ThreadId> id_;
  KernelAccessCounts* counts_ = nullptr;  // null: not counted
  int64_t interval_ = 0;                  // barriers passed
  const Tickets* tickets_ = nullptr;
  const SourceLocation* line_ = &kNoLine;  // in the program, or in RunState::fragment_loops
};

}  // namespace texloom::ir
