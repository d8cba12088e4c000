// Makes the buffers and textures of the stages.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lower/lowering.h"
#include "schedule/bounds/bounds.h"

namespace texloom::lower {

struct StageBuffers {
  std::vector<std::vector<ir::Buffer>> of_stage;  // by stage id, one for each output
  // Indexed by stage id and output: the parameter to which the output is copied, if the stage is
  // computed inside a reader, in memory of a block or a thread; null for other stages.
  std::vector<std::vector<ir::Buffer>> copies;
  std::vector<ir::Buffer> params;  // in the order of the arguments
  // The first stage to write a buffer that several stages write: the init of a scan.
  std::unordered_map<const ir::BufferNode*, schedule::StageId> begun_by;

  bool is_param(const ir::Buffer& buffer) const;
  // The first stage with an output in this buffer; nullopt for partial results of a reduction and
  // for arrays that elements are copied to.
  std::optional<schedule::StageId> stage_of(const ir::Buffer& buffer) const;
  // Whether no other stage writes to the buffer before this one.
  bool begins(schedule::StageId id, const ir::Buffer& buffer) const;
};

// Decides layouts: folds a texture that exceeds the target's limits, unless the user specified its
// layout. Fails with TextureTooLarge if no fold fits, with BadLayout if a layout does not fit the
// part of the tensor that is computed at a time, and with IndexTooLarge if an axis has at least
// 2^31 indices or a buffer more than 2^48 elements.
StageBuffers make_stage_buffers(const Lowering& lowering, const schedule::Bounds& bounds);

// The layouts of the caller's arrays, in the order of the arguments.
std::vector<ir::Layout> array_layouts(const Lowering& lowering, const StageBuffers& buffers);

}  // namespace texloom::lower
