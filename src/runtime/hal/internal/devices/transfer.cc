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

std::uint64_t row_bytes_of(Extent2D extent, TexelFormat format) {
  return std::uint64_t{extent.width} * bytes_per_texel(format);
}

// The rows of a block.
std::uint64_t rows_at_once(Extent2D extent, TexelFormat format) {
  return std::clamp<std::uint64_t>(kStagingBytes / row_bytes_of(extent, format), 1, extent.height);
}

Status check_region(const Texture* texture, const TextureRegion& region, std::uint64_t host_bytes) {
  if (texture == nullptr) return invalid_argument("the texture is null");
  // Checked before recording, so that products cannot overflow.
  if (!region_fits(region.origin, region.extent, texture->extent()))
    return invalid_argument("the texture has {}, wanted {} at {}", to_string(texture->extent()),
                            to_string(region.extent), to_string(region.origin));
  const std::uint64_t wanted = byte_size(region.extent, texture->format());
  if (host_bytes != wanted)
    return invalid_argument("{} of {} take {} bytes, got {}", to_string(region.extent),
                            to_string(texture->format()), wanted, host_bytes);
  return {};
}

// Calls `record(block)` for each block of rows that fits into the staging buffer. One staging
// buffer suffices, because commands run in order.
template <typename Record>
Status record_rows(const Texture& texture, const TextureRegion& region, Record record) {
  const Extent2D extent = region.extent;
  if (extent.width == 0 || extent.height == 0) return {};
  const std::uint64_t row_bytes = row_bytes_of(extent, texture.format());
  const std::uint64_t rows = rows_at_once(extent, texture.format());
  for (std::uint64_t row = 0; row < extent.height; row += rows) {
    const std::uint64_t height = std::min<std::uint64_t>(rows, extent.height - row);
    const RowBlock block{
        .region = {.origin = {region.origin.x, static_cast<std::uint32_t>(region.origin.y + row)},
                   .extent = {extent.width, static_cast<std::uint32_t>(height)}},
        .host_offset = row * row_bytes,
        .bytes = height * row_bytes};
    TL_RETURN_IF_ERROR(record(block));
  }
  return {};
}

// Records the transfer of a region with a staging buffer of its own, and waits for it.
template <typename Record>
Status transfer_rows(Device& device, const Texture* texture, const TextureRegion& region,
                     std::uint64_t host_bytes, Record record) {
  TL_RETURN_IF_ERROR(check_region(texture, region, host_bytes));
  if (host_bytes == 0) return {};
  TL_ASSIGN_OR_RETURN(
      const std::shared_ptr<Buffer> staging,
      device.create_buffer(
          {.bytes = staging_bytes(region.extent, texture->format()), .usage = kStagingUsage}));
  const std::shared_ptr<CommandBuffer> commands = device.create_command_buffer();
  TL_RETURN_IF_ERROR(record(*commands, staging));
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

std::uint64_t staging_bytes(Extent2D extent, TexelFormat format) {
  if (extent.width == 0 || extent.height == 0) return 0;
  return rows_at_once(extent, format) * row_bytes_of(extent, format);
}

Status record_write(CommandBuffer& commands, const std::shared_ptr<Buffer>& staging,
                    const std::shared_ptr<Texture>& target, const TextureRegion& region,
                    std::span<const std::byte> data, HostMemory memory) {
  TL_RETURN_IF_ERROR(check_region(target.get(), region, data.size()));
  return record_rows(*target, region, [&](const RowBlock& block) {
    TL_RETURN_IF_ERROR(
        commands.update(staging, 0, data.subspan(block.host_offset, block.bytes), memory));
    return commands.copy_buffer_to_texture(staging, target, block.region);
  });
}

Status record_read(CommandBuffer& commands, const std::shared_ptr<Buffer>& staging,
                   const std::shared_ptr<Texture>& source, const TextureRegion& region,
                   std::span<std::byte> data) {
  TL_RETURN_IF_ERROR(check_region(source.get(), region, data.size()));
  return record_rows(*source, region, [&](const RowBlock& block) {
    TL_RETURN_IF_ERROR(commands.copy_texture_to_buffer(source, staging, block.region));
    return commands.readback(staging, 0, data.subspan(block.host_offset, block.bytes));
  });
}

Status write_texture(Device& device, const std::shared_ptr<Texture>& target,
                     const TextureRegion& region, std::span<const std::byte> data) {
  Status status = transfer_rows(
      device, target.get(), region, data.size(),
      [&](CommandBuffer& commands, const std::shared_ptr<Buffer>& staging) {
        return record_write(commands, staging, target, region, data, HostMemory::Borrowed);
      });
  return status.with_context("write_texture");
}

Status read_texture(Device& device, const std::shared_ptr<Texture>& source,
                    const TextureRegion& region, std::span<std::byte> data) {
  Status status =
      transfer_rows(device, source.get(), region, data.size(),
                    [&](CommandBuffer& commands, const std::shared_ptr<Buffer>& staging) {
                      return record_read(commands, staging, source, region, data);
                    });
  return status.with_context("read_texture");
}

}  // namespace texloom::hal
