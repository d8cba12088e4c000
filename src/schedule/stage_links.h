// How the stages of a schedule hang together, found once for a pass that asks for all of them.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace texloom::schedule {

// By stage id, each list in topological order. Holds for the schedule as it was.
struct StageLinks {
  std::vector<std::vector<StageId>> readers;   // of each stage, inlined ones too
  std::vector<std::vector<StageId>> attached;  // to a loop of each stage

  const std::vector<StageId>& readers_of(StageId id) const {
    return readers[static_cast<size_t>(id)];
  }
  const std::vector<StageId>& attached_to(StageId id) const {
    return attached[static_cast<size_t>(id)];
  }
};

StageLinks links_of(const Schedule& schedule);

}  // namespace texloom::schedule
