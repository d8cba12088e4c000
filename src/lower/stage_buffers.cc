#include "lower/stage_buffers.h"

#include <algorithm>
#include <limits>

#include "schedule/attach.h"
#include "support/int128.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages
using schedule::Stage;     // not the pipeline's

namespace {

Layout layout_for(const Stage& stage, const std::vector<int64_t>& shape, TextureRule rule,
                  const Target& target) {
  const Layout natural = texture_layout(shape, rule);
  if (const auto fitting = best_fold(natural, target.image_limits())) return *fitting;
  fail(stage.scope_location, Code::TextureTooLarge,
       "keep the tensor in a buffer, or split it into several textures",
       "'{}' needs {} x {} texels, and no fold brings it under the target's limit of {} x {}",
       stage.name(), natural.col_count(), natural.row_count(), target.max_image_size,
       target.max_image_size);
}

// Each axis is indexed in 32 bits, the whole in 64.
void check_size(const Stage& stage, const std::vector<int64_t>& shape) {
  int128 bytes = stage.op->type.bytes();
  for (const int64_t extent : shape) {
    bytes *= extent;
    if (extent <= std::numeric_limits<int32_t>::max() &&
        bytes <= std::numeric_limits<int64_t>::max()) {
      continue;
    }
    fail(stage.op->location, Code::IndexTooLarge,
         "split the tensor: an axis has fewer than 2^31 indices, a buffer fewer than 2^63 bytes",
         "'{}' has too many elements for the target's integers", stage.name());
  }
}

Buffer make_stage_buffer(const Stage& stage, const std::string& name, const StorageScope& scope,
                         const std::vector<int64_t>& shape, bool has_origin, const Target& target) {
  check_size(stage, shape);
  if (!scope.texture) {
    return make_buffer(name, stage.op->type, shape, scope.memory, stage.op->location);
  }
  TextureOrigin origin;
  if (has_origin) origin = {make_var(name + ".x"), make_var(name + ".y")};
  return make_texture(name, stage.op->type, layout_for(stage, shape, *scope.texture, target),
                      origin, stage.scope_location);
}

// The parameter of an input that nothing reads.
Buffer unread_buffer(const Argument& argument) {
  const Tensor& t = argument.tensor;
  return make_buffer(t->name, t->type, constant_shape(t->shape, t->name, t->location),
                     MemoryScope::Global, t->location);
}

}  // namespace

bool StageBuffers::is_param(StageId id) const {
  const Buffer& own = of_stage[static_cast<size_t>(id)];
  return std::any_of(params.begin(), params.end(), [&](const Buffer& b) { return b.same_as(own); });
}

StageBuffers make_stage_buffers(const Lowering& lowering, const Bounds& bounds) {
  const Schedule& s = lowering.schedule;
  StageBuffers buffers;
  buffers.of_stage.resize(s.order().size());
  for (const Argument& argument : lowering.arguments) {
    const auto id = s.find(operation_of(argument.tensor));
    if (!id) {
      buffers.params.push_back(unread_buffer(argument));
      continue;
    }
    const Stage& stage = s.stage(*id);
    const std::string& name = argument.declaration && !argument.declaration->name.empty()
                                  ? argument.declaration->name
                                  : stage.name();
    const Buffer buffer = make_stage_buffer(
        stage, name, stage.scope.value_or(StorageScope{}),
        constant_shape(stage.op->shape, stage.name(), stage.op->location),
        argument.declaration && argument.declaration->has_origin, lowering.target);
    buffers.of_stage[static_cast<size_t>(*id)] = buffer;
    buffers.params.push_back(buffer);
  }
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    const bool needed = stage.attachment.kind != AttachKind::Inline && !stage.op->is_placeholder();
    if (!needed || buffers.of_stage[static_cast<size_t>(id)]) continue;
    buffers.of_stage[static_cast<size_t>(id)] =
        make_stage_buffer(stage, stage.name(), scope_of(s, id),
                          bounds.stages[static_cast<size_t>(id)].extent, false, lowering.target);
  }
  return buffers;
}

}  // namespace texloom::lower
