// The loops of a stage's leaf axes, as the directives say.
#pragma once

#include <vector>

#include "schedule/attach.h"
#include "schedule/bounds/bounds.h"
#include "support/diagnostic.h"

namespace texloom::lower {

class LeafLoops {
 public:
  // All must outlive it; `warnings` gets a warning for each loop that stays serial.
  LeafLoops(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
            std::vector<Diagnostic>& warnings)
      : s_(schedule), bounds_(bounds), warnings_(warnings) {}

  // The loop around the body. There is none where a loop around the stage runs over the same
  // virtual threads. Fails with ThreadExtentMismatch where that loop has another extent.
  ir::Stmt around(schedule::StageId id, const schedule::LeafLoop& loop, ir::Stmt body) const;

 private:
  void warn_of_serial_loop(schedule::StageId id, const ir::IterVar& axis,
                           const SourceLocation& where) const;
  const schedule::LeafLoop* same_virtual_threads(schedule::StageId id,
                                                 const ir::IterVar& thread) const;

  const schedule::Schedule& s_;
  const schedule::Bounds& bounds_;
  std::vector<Diagnostic>& warnings_;
};

}  // namespace texloom::lower
