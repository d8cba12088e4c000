#include "runtime/hal/command_buffer.h"

#include <algorithm>
#include <new>

#include "runtime/hal/command_check.h"

namespace texloom::hal {
namespace {

// The place in the buffer that has the memory.
void resolve(std::shared_ptr<Buffer>& buffer, std::uint64_t& offset) {
  offset += buffer->base_offset();
  buffer = buffer->shared_root();
}

bool is_empty(Extent2D extent) { return extent.width == 0 || extent.height == 0; }

}  // namespace

Status CommandBuffer::check_recording(const char* command) const {
  if (!finished_) return {};
  return invalid_argument("{}: the command buffer is finished", command);
}

Status CommandBuffer::dispatch(std::shared_ptr<Executable> executable, std::uint32_t entry_point,
                               std::array<std::uint32_t, 3> groups,
                               std::span<const Binding> bindings,
                               std::span<const Constant> constants) {
  TL_RETURN_IF_ERROR(check_recording("dispatch"));
  TL_RETURN_IF_ERROR(
      check_dispatch(*device_info_, executable.get(), entry_point, bindings, constants));
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return {};
  std::vector<Binding> resolved(bindings.begin(), bindings.end());
  for (Binding& binding : resolved) {
    if (auto* bound = std::get_if<BufferBinding>(&binding)) resolve(bound->buffer, bound->offset);
  }
  segments_.emplace_back(DispatchSegment{std::move(executable),
                                         entry_point,
                                         groups,
                                         std::move(resolved),
                                         {constants.begin(), constants.end()}});
  return {};
}

Status CommandBuffer::dispatch_workload(std::shared_ptr<Executable> executable,
                                        std::uint32_t entry_point,
                                        std::span<const std::int64_t> workload,
                                        std::span<const Binding> bindings,
                                        std::span<const Constant> constants) {
  std::array<std::uint32_t, 3> groups = {0, 0, 0};
  // dispatch() says what is wrong with an entry point that there is not.
  if (executable != nullptr && entry_point < executable->entry_points().size()) {
    TL_ASSIGN_OR_RETURN(groups, groups_of(executable->entry_points()[entry_point], workload));
  }
  return dispatch(std::move(executable), entry_point, groups, bindings, constants);
}

Status CommandBuffer::update(std::shared_ptr<Buffer> target, std::uint64_t offset,
                             std::span<const std::byte> data, HostMemory memory) {
  TL_RETURN_IF_ERROR(check_recording("update"));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "update: the target", target.get(),
                                        BufferUsage::CopyTarget, offset, data.size()));
  if (data.empty()) return {};
  std::shared_ptr<const std::byte[]> owned;
  if (memory == HostMemory::Copied) {
    auto* copy = new (std::nothrow) std::byte[data.size()];
    if (copy == nullptr)
      return make_error(StatusCode::OutOfMemory, "update: no host memory for {} bytes",
                        data.size());
    std::copy(data.begin(), data.end(), copy);
    owned.reset(copy);
    data = {copy, data.size()};
  }
  resolve(target, offset);
  segments_.emplace_back(UpdateSegment{std::move(target), offset, data, std::move(owned)});
  return {};
}

Status CommandBuffer::readback(std::shared_ptr<Buffer> source, std::uint64_t offset,
                               std::span<std::byte> data) {
  TL_RETURN_IF_ERROR(check_recording("readback"));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "readback: the source", source.get(),
                                        BufferUsage::CopySource, offset, data.size()));
  if (data.empty()) return {};
  resolve(source, offset);
  segments_.emplace_back(ReadbackSegment{std::move(source), offset, data});
  return {};
}

Status CommandBuffer::copy_buffer(std::shared_ptr<Buffer> source, std::uint64_t source_offset,
                                  std::shared_ptr<Buffer> target, std::uint64_t target_offset,
                                  std::uint64_t bytes) {
  TL_RETURN_IF_ERROR(check_recording("copy_buffer"));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "copy_buffer: the source", source.get(),
                                        BufferUsage::CopySource, source_offset, bytes));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "copy_buffer: the target", target.get(),
                                        BufferUsage::CopyTarget, target_offset, bytes));
  if (bytes == 0) return {};
  resolve(source, source_offset);
  resolve(target, target_offset);
  if (source == target && ranges_meet(source_offset, bytes, target_offset, bytes))
    return invalid_argument("copy_buffer: {} bytes at {} and at {} of one buffer overlap", bytes,
                            source_offset, target_offset);
  segments_.emplace_back(
      CopyBufferSegment{std::move(source), source_offset, std::move(target), target_offset, bytes});
  return {};
}

Status CommandBuffer::copy_buffer_to_texture(std::shared_ptr<Buffer> source,
                                             std::shared_ptr<Texture> target,
                                             const BufferTextureRegion& region) {
  TL_RETURN_IF_ERROR(check_recording("copy_buffer_to_texture"));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_buffer_to_texture: the target",
                                          target.get(), TextureUsage::CopyTarget, region.origin,
                                          region.extent));
  TL_ASSIGN_OR_RETURN(
      BufferTextureRegion resolved,
      check_buffer_rows(*device_info_, "copy_buffer_to_texture: the source", source.get(),
                        BufferUsage::CopySource, region, target->format()));
  if (is_empty(region.extent)) return {};
  resolve(source, resolved.buffer_offset);
  segments_.emplace_back(
      CopyBufferToTextureSegment{std::move(source), std::move(target), resolved});
  return {};
}

Status CommandBuffer::copy_texture_to_buffer(std::shared_ptr<Texture> source,
                                             std::shared_ptr<Buffer> target,
                                             const BufferTextureRegion& region) {
  TL_RETURN_IF_ERROR(check_recording("copy_texture_to_buffer"));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_texture_to_buffer: the source",
                                          source.get(), TextureUsage::CopySource, region.origin,
                                          region.extent));
  TL_ASSIGN_OR_RETURN(
      BufferTextureRegion resolved,
      check_buffer_rows(*device_info_, "copy_texture_to_buffer: the target", target.get(),
                        BufferUsage::CopyTarget, region, source->format()));
  if (is_empty(region.extent)) return {};
  resolve(target, resolved.buffer_offset);
  segments_.emplace_back(
      CopyTextureToBufferSegment{std::move(source), std::move(target), resolved});
  return {};
}

Status CommandBuffer::copy_texture(std::shared_ptr<Texture> source, Offset2D source_origin,
                                   std::shared_ptr<Texture> target, Offset2D target_origin,
                                   Extent2D extent) {
  TL_RETURN_IF_ERROR(check_recording("copy_texture"));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_texture: the source", source.get(),
                                          TextureUsage::CopySource, source_origin, extent));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_texture: the target", target.get(),
                                          TextureUsage::CopyTarget, target_origin, extent));
  if (source->format() != target->format())
    return invalid_argument("copy_texture: the source is {}, the target is {}",
                            to_string(source->format()), to_string(target->format()));
  if (is_empty(extent)) return {};
  if (source == target && regions_meet(source_origin, extent, target_origin, extent))
    return invalid_argument("copy_texture: {} at {} and at {} of one texture overlap",
                            to_string(extent), to_string(source_origin), to_string(target_origin));
  segments_.emplace_back(CopyTextureSegment{std::move(source), source_origin, std::move(target),
                                            target_origin, extent});
  return {};
}

Status CommandBuffer::finish() {
  TL_RETURN_IF_ERROR(check_recording("finish"));
  finished_ = true;
  return {};
}

}  // namespace texloom::hal
