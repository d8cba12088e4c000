// The buffer or texture of each stage.
#pragma once

#include <vector>

#include "lower/lowering.h"
#include "schedule/bounds.h"

namespace texloom::lower {

struct StageBuffers {
  std::vector<ir::Buffer> of_stage;  // by stage id
  std::vector<ir::Buffer> params;    // in the order of the arguments
  bool is_param(schedule::StageId id) const;
};

// Layouts are decided here: a texture that exceeds the target's limits is folded; fails with
// TextureTooLarge when no fold fits, with IndexTooLarge when an axis has 2^31 indices or a buffer
// 2^63 bytes.
StageBuffers make_stage_buffers(const Lowering& lowering, const schedule::Bounds& bounds);

}  // namespace texloom::lower
