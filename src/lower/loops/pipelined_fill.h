// Makes the statements that replace one Pipelined statement (lower/loops/pipeline_loops.h).
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace texloom::lower {

// The fill of one buffer, which runs ahead of a loop of at least two iterations.
class PipelinedFill {
 public:
  // Fails with CannotPipeline if the fill of a shared buffer is not a single store inside loops.
  PipelinedFill(const ir::Pipelined& fill, const ir::For& loop, int64_t extent);

  bool is_shared() const { return from_->memory == ir::MemoryScope::Shared; }
  bool is_async() const { return is_async_; }
  // How many iterations before its use an element is read from memory.
  int64_t ahead() const { return ahead_; }

  // The buffers to allocate around the loop.
  std::vector<ir::Buffer> buffers() const;
  // Fills the copy for this iteration.
  ir::Stmt filled(const ir::Expr& iteration) const;
  // The statements in front of the loop, at the start, and at the end of this iteration. Empty for
  // an asynchronous fill: the loop puts the fills of all its buffers into groups of copies.
  ir::Stmts lead() const;
  ir::Stmts at_start(const ir::Expr& iteration) const;
  ir::Stmts at_end(const ir::Expr& iteration) const;
  // The statement with the buffer replaced by the copy for this turn.
  ir::Stmt with_copy(const ir::Stmt& s, const ir::Expr& turn) const;

 private:
  ir::Stmt fetched(const ir::Expr& iteration) const;
  ir::Stmt stored(const ir::Expr& iteration) const;
  ir::Expr clamped(const ir::Expr& iteration) const;
  ir::Stmt of_iteration(const ir::Stmt& s, const ir::Expr& iteration) const;

  ir::Expr var_;
  bool is_async_ = false;
  int64_t extent_ = 0, ahead_ = 0, copies_ = 0;
  ir::Buffer from_;       // the original buffer, for one iteration
  ir::Buffer to_;         // the replacement, with a copy for each iteration in flight
  ir::Stmt fill_;         // of `from_`
  ir::Buffer registers_;  // for a shared buffer: the elements that a thread has fetched
  ir::Stmt fetch_;        // memory -> registers_
  ir::Stmt store_;        // registers_ -> from_
};

}  // namespace texloom::lower
