// Builds the loops of a stage's leaf axes according to the directives.
#pragma once

#include <vector>

#include "schedule/attach.h"
#include "schedule/bounds/bounds.h"
#include "support/diagnostic.h"

namespace texloom::lower {

class LeafLoops {
 public:
  // The arguments must outlive this object; `warnings` gets a warning for each loop that stays
  // serial although it is annotated as parallel, since the schedule binds threads.
  LeafLoops(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
            std::vector<Diagnostic>& warnings);

  // Puts the loop around the body, unless a loop around the stage already runs over the same
  // virtual threads. Fails with ThreadExtentMismatch if that loop has another extent.
  ir::Stmt around(schedule::StageId id, const schedule::LeafLoop& loop, ir::Stmt body) const;

 private:
  void warn_of_serial_loop(schedule::StageId id, const ir::IterVar& axis,
                           const SourceLocation& where) const;
  const schedule::LeafLoop* same_virtual_threads(schedule::StageId id,
                                                 const ir::IterVar& thread) const;

  const schedule::Schedule& s_;
  const schedule::Bounds& bounds_;
  const bool keeps_parallel_;
  std::vector<Diagnostic>& warnings_;
};

}  // namespace texloom::lower
