#include "schedule/stage_links.h"

namespace texloom::schedule {

StageLinks links_of(const Schedule& schedule) {
  StageLinks links;
  links.readers.resize(schedule.order().size());
  links.attached.resize(schedule.order().size());
  for (const StageId id : schedule.order()) {
    const Stage& stage = schedule.stage(id);
    for (const ir::Tensor& input : stage.op->inputs) {
      std::vector<StageId>& readers = links.readers[static_cast<size_t>(schedule.producer(input))];
      // Several outputs of one stage may be read.
      if (readers.empty() || readers.back() != id) readers.push_back(id);
    }
    if (stage.attachment.kind == AttachKind::At) {
      links.attached[static_cast<size_t>(stage.attachment.stage)].push_back(id);
    }
  }
  return links;
}

}  // namespace texloom::schedule
