// Executes statements of the IR, and halts at barriers, shuffles and launches, where other code has
// to run.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "ir/interpret/evaluate.h"

namespace texloom::ir {

// Executes the statements of a runner, as a walk over their tree that can be suspended and resumed:
// threads of a block take turns at barriers.
class Stepper {
 public:
  enum class Halt : uint8_t { End, Barrier, Shuffle, LastBlock, Launch };

  // The arguments must outlive the Stepper.
  Stepper(const Stmt& body, Runner& runner, View& view, Evaluator& evaluator)
      : runner_(runner), view_(view), evaluator_(evaluator), start_(&body) {}

  // Allocates a temporary that lives from the start of the run.
  void allocate(const Buffer& buffer);

  // Runs up to the next barrier, shuffle, ticket or launch, or to the end. The caller that resumes
  // it after a shuffle must have bound the shuffle's variable, and after a LastBlock it must have
  // called enter_last_block(). Where all loops run in order, each body of a LastBlock runs.
  // Vectorized loops and thread loops run like serial loops. This is valid for two nested loops
  // over one thread tag, too: in each iteration of the outer loop, the inner loop completely fills
  // a buffer that is allocated inside the outer loop.
  Halt advance();

  // Decides whether the thread runs the body of the LastBlock at which it has halted.
  void enter_last_block(bool is_last) { frames_.back().extent = is_last ? 1 : 0; }

  // The Barrier, Shuffle, LastBlock or Launch of the last halt.
  const StmtNode& halted_at() const { return *halted_at_; }
  // Whether the other stepper has halted at the same place, in the same iterations of all loops.
  bool is_where(const Stepper& other) const;

 private:
  struct Frame {
    const Stmt* stmt;
    const SourceLocation* line;  // its own, or that of a statement around it
    int64_t next = 0;            // the next iteration, or statement of a Seq
    int64_t extent = 1;          // the number of iterations or statements
  };

  std::optional<Halt> halt_at(StmtKind kind) const;
  void push(const Stmt& s);
  void begin(Frame& frame);
  const Stmt* next_child(Frame& frame);
  void await(const AwaitCopies& n);
  bool makes(const FragmentStep& step) const;
  const Stmt& loops_of(const FragmentStep& step);

  Runner& runner_;
  View& view_;
  Evaluator& evaluator_;
  const Stmt* start_;          // null once the Stepper has begun
  std::vector<Frame> frames_;  // the open statements, the innermost last
  const StmtNode* halted_at_ = nullptr;
  bool copies_ = false;                              // whether an AsyncCopies is open
  std::deque<std::vector<Evaluator::Copy>> groups_;  // begun and not awaited, the oldest first
};

}  // namespace texloom::ir
