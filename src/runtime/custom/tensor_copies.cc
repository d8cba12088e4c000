#include "runtime/custom/tensor_copies.h"

#include <utility>

namespace texloom::runtime {

TensorCopies::TensorCopies(hal::Device& device, std::shared_ptr<hal::Queue> queue)
    : device_(device), queue_(std::move(queue)), commands_(device.create_command_buffer()) {}

Result<std::shared_ptr<hal::Buffer>> TensorCopies::staging(std::uint64_t bytes) {
  TL_ASSIGN_OR_RETURN(auto lease, device_.workspace_pool().acquire(queue_, {.bytes = bytes}));
  staging_.push_back(std::move(lease));
  return staging_.back().object();
}

Status TensorCopies::read(const hal::BufferBinding& source, std::span<std::byte> data) {
  return commands_->readback(source.buffer, source.offset, data);
}

Status TensorCopies::write(const hal::BufferBinding& target, std::span<const std::byte> data) {
  return commands_->update(target.buffer, target.offset, data, hal::HostMemory::Borrowed);
}

Status TensorCopies::read(const hal::TextureBinding& source, hal::Extent2D extent,
                          std::span<std::byte> data) {
  TL_ASSIGN_OR_RETURN(const auto buffer, staging(data.size()));
  TL_RETURN_IF_ERROR(commands_->copy_texture_to_buffer(
      source.texture, buffer, {.origin = source.origin, .extent = extent}));
  return commands_->readback(buffer, 0, data);
}

Status TensorCopies::write(const hal::TextureBinding& target, hal::Extent2D extent,
                           std::span<const std::byte> data) {
  TL_ASSIGN_OR_RETURN(const auto buffer, staging(data.size()));
  TL_RETURN_IF_ERROR(commands_->update(buffer, 0, data, hal::HostMemory::Borrowed));
  return commands_->copy_buffer_to_texture(buffer, target.texture,
                                           {.origin = target.origin, .extent = extent});
}

Status TensorCopies::run() {
  TL_RETURN_IF_ERROR(commands_->finish());
  if (commands_->segments().empty()) return {};
  const Status status = queue_->run({.waits = {}, .commands = {commands_}, .signals = {}});
  for (auto& lease : staging_) lease.release();
  return status;
}

}  // namespace texloom::runtime
