// The buffer or texture of each stage.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lower/lowering.h"
#include "schedule/bounds.h"

namespace texloom::lower {

struct StageBuffers {
  std::vector<std::vector<ir::Buffer>> of_stage;  // by stage id, one for each output
  // By stage id, one for each output: the parameters of those that are computed inside a reader, in
  // memory of a block or a thread, and copied out from there; null for others.
  std::vector<std::vector<ir::Buffer>> copies;
  std::vector<ir::Buffer> params;  // in the order of the arguments
  // Of buffers that several stages write: the results of scans, which inits begin.
  std::unordered_map<const ir::BufferNode*, schedule::StageId> begun_by;

  bool is_param(const ir::Buffer& buffer) const;
  // The first stage that keeps an output there; nothing for parts of a reduction, and for arrays
  // that elements are copied to.
  std::optional<schedule::StageId> stage_of(const ir::Buffer& buffer) const;
  // Whether no other stage writes to the buffer before this one.
  bool begins(schedule::StageId id, const ir::Buffer& buffer) const;
};

// Layouts are decided here: a texture that exceeds the target's limits is folded, unless the user
// wrote its layout. Fails with TextureTooLarge when no fold fits, with BadLayout when a layout is
// none of the part of the tensor that is computed at once, with IndexTooLarge when an axis
// has 2^31 indices or a buffer 2^63 bytes.
StageBuffers make_stage_buffers(const Lowering& lowering, const schedule::Bounds& bounds);

// Of the caller's arrays, argument by argument.
std::vector<ir::Layout> array_layouts(const Lowering& lowering, const StageBuffers& buffers);

}  // namespace texloom::lower
