// The readers and attachments of all stages, computed once for a pass that needs many of them.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace texloom::schedule {

// Lists indexed by stage id, each in topological order. The lists are not updated when the schedule
// changes.
struct StageLinks {
  std::vector<std::vector<StageId>> readers;   // the readers of each stage, also inlined ones
  std::vector<std::vector<StageId>> attached;  // the stages attached to a loop of each stage

  const std::vector<StageId>& readers_of(StageId id) const {
    return readers[static_cast<size_t>(id)];
  }
  const std::vector<StageId>& attached_to(StageId id) const {
    return attached[static_cast<size_t>(id)];
  }
};

StageLinks links_of(const Schedule& schedule);

}  // namespace texloom::schedule
