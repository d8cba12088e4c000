#include "runtime/hal/transfer.h"

#include <algorithm>

namespace texloom::hal {
namespace {

// A block of consecutive rows of a region: its place in the texture and in the host's data.
struct RowBlock {
  BufferTextureRegion region;
  std::uint64_t host_offset;
  std::uint64_t bytes;
};

// Calls `record(command buffer, staging buffer, block)` for each block of rows that fits into the
// staging buffer, then runs everything. One staging buffer suffices, as commands run in order.
template <typename Record>
Status transfer_rows(Device& device, const Texture* texture, const TextureRegion& region,
                     std::uint64_t host_bytes, Record record) {
  if (texture == nullptr) return invalid_argument("the texture is null");
  const std::uint64_t row_bytes =
      std::uint64_t{region.extent.width} * bytes_per_texel(texture->format());
  // Checked before recording, so that the products below cannot overflow.
  if (!region_fits(region.origin, region.extent, texture->extent()))
    return invalid_argument("the texture has {}, wanted {} at {}", to_string(texture->extent()),
                            to_string(region.extent), to_string(region.origin));
  if (host_bytes != row_bytes * region.extent.height)
    return invalid_argument("{} of {} take {} bytes, got {}", to_string(region.extent),
                            to_string(texture->format()), row_bytes * region.extent.height,
                            host_bytes);
  if (host_bytes == 0) return {};

  const std::uint64_t rows =
      std::clamp<std::uint64_t>(kStagingBytes / row_bytes, 1, region.extent.height);
  TL_ASSIGN_OR_RETURN(
      const std::shared_ptr<Buffer> staging,
      device.create_buffer(
          {.bytes = rows * row_bytes, .usage = BufferUsage::CopySource | BufferUsage::CopyTarget}));
  const std::shared_ptr<CommandBuffer> commands = device.create_command_buffer();
  for (std::uint64_t row = 0; row < region.extent.height; row += rows) {
    const std::uint64_t height = std::min<std::uint64_t>(rows, region.extent.height - row);
    const RowBlock block{
        .region = {.origin = {region.origin.x, static_cast<std::uint32_t>(region.origin.y + row)},
                   .extent = {region.extent.width, static_cast<std::uint32_t>(height)}},
        .host_offset = row * row_bytes,
        .bytes = height * row_bytes};
    TL_RETURN_IF_ERROR(record(*commands, staging, block));
  }
  return run_and_wait(device, commands);
}

}  // namespace

Status run_and_wait(Device& device, const std::shared_ptr<CommandBuffer>& commands) {
  TL_RETURN_IF_ERROR(commands->finish());
  return device.queue()->run({.commands = {commands}});
}

Status write_buffer(Device& device, const std::shared_ptr<Buffer>& target, std::uint64_t offset,
                    std::span<const std::byte> data) {
  const std::shared_ptr<CommandBuffer> commands = device.create_command_buffer();
  TL_RETURN_IF_ERROR(commands->update(target, offset, data, HostMemory::Borrowed));
  return run_and_wait(device, commands);
}

Status read_buffer(Device& device, const std::shared_ptr<Buffer>& source, std::uint64_t offset,
                   std::span<std::byte> data) {
  const std::shared_ptr<CommandBuffer> commands = device.create_command_buffer();
  TL_RETURN_IF_ERROR(commands->readback(source, offset, data));
  return run_and_wait(device, commands);
}

Status write_texture(Device& device, const std::shared_ptr<Texture>& target,
                     const TextureRegion& region, std::span<const std::byte> data) {
  Status status = transfer_rows(
      device, target.get(), region, data.size(),
      [&](CommandBuffer& commands, const std::shared_ptr<Buffer>& staging, const RowBlock& block) {
        TL_RETURN_IF_ERROR(commands.update(staging, 0, data.subspan(block.host_offset, block.bytes),
                                           HostMemory::Borrowed));
        return commands.copy_buffer_to_texture(staging, target, block.region);
      });
  return status.with_context("write_texture");
}

Status read_texture(Device& device, const std::shared_ptr<Texture>& source,
                    const TextureRegion& region, std::span<std::byte> data) {
  Status status = transfer_rows(
      device, source.get(), region, data.size(),
      [&](CommandBuffer& commands, const std::shared_ptr<Buffer>& staging, const RowBlock& block) {
        TL_RETURN_IF_ERROR(commands.copy_texture_to_buffer(source, staging, block.region));
        return commands.readback(staging, 0, data.subspan(block.host_offset, block.bytes));
      });
  return status.with_context("read_texture");
}

}  // namespace texloom::hal
