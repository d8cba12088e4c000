// Statements of the IR, one after another, with a halt wherever others have to act.
#pragma once

#include <vector>

#include "ir/interpret/evaluate.h"

namespace texloom::ir {

// What a runner does, as a walk over the tree of statements that can be left and taken up again:
// threads of a block take turns at barriers.
class Stepper {
 public:
  enum class Halt : uint8_t { End, Barrier, Launch };

  // All of them outlive it.
  Stepper(const Stmt& body, Runner& runner, View& view, Evaluator& evaluator)
      : runner_(runner), view_(view), evaluator_(evaluator), start_(&body) {}

  // Of a temporary that is there from the beginning.
  void allocate(const Buffer& buffer);

  // Runs up to the next barrier or launch, or to the end. Vectorised loops and loops over threads
  // run like others: what an inner loop over a thread tag computes into is allocated inside the
  // outer one, and complete for each of its iterations.
  Halt advance();

  // The Barrier or Launch that the last halt was at.
  const StmtNode& halted_at() const { return *halted_at_; }
  // Whether the other one has come to the same place, in the same iterations of all loops.
  bool is_where(const Stepper& other) const;

 private:
  struct Frame {
    const Stmt* stmt;
    SourceLocation line;
    int64_t next = 0;    // the next iteration, or statement of a Seq
    int64_t extent = 1;  // how many there are
  };

  void push(const Stmt& s);
  void begin(Frame& frame);
  const Stmt* next_child(Frame& frame);

  Runner& runner_;
  View& view_;
  Evaluator& evaluator_;
  const Stmt* start_;          // null once it is begun
  std::vector<Frame> frames_;  // innermost last
  const StmtNode* halted_at_ = nullptr;
};

}  // namespace texloom::ir
