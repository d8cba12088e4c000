// Blocking transfers: each call submits to the device's queue and waits for it. Use them at the
// start and the end of a program; in between, record copies into command buffers.
//
// Thread safe if no other thread uses the host memory. Errors are those of recording and of the
// queue; errors of the queue may come from earlier work.
//
// The host's rows of a texture are contiguous: the data have exactly the bytes of the region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/hal/command_buffer.h"
#include "runtime/hal/device.h"
#include "support/status.h"

namespace texloom::hal {

// Finishes a command buffer, submits it and waits.
Status run_and_wait(Device& device, const std::shared_ptr<CommandBuffer>& commands);

Status write_buffer(Device& device, const std::shared_ptr<Buffer>& target, std::uint64_t offset,
                    std::span<const std::byte> data);
Status read_buffer(Device& device, const std::shared_ptr<Buffer>& source, std::uint64_t offset,
                   std::span<std::byte> data);

struct TextureRegion {
  Offset2D origin = {};
  Extent2D extent = {};
};

// Transfers of textures use a staging buffer of at most kStagingBytes, or of one row if a row is
// larger.
inline constexpr std::uint64_t kStagingBytes = std::uint64_t{64} << 20;
inline constexpr BufferUsage kStagingUsage = BufferUsage::CopySource | BufferUsage::CopyTarget;
// The bytes of the staging buffer; 0 for an empty region.
std::uint64_t staging_bytes(Extent2D extent, TexelFormat format);

// Record a transfer with a staging buffer of at least staging_bytes(), in as many blocks of rows as
// it takes. InvalidArgument for data of another size; otherwise the errors of recording.
Status record_write(CommandBuffer& commands, const std::shared_ptr<Buffer>& staging,
                    const std::shared_ptr<Texture>& target, const TextureRegion& region,
                    std::span<const std::byte> data, HostMemory memory);
Status record_read(CommandBuffer& commands, const std::shared_ptr<Buffer>& staging,
                   const std::shared_ptr<Texture>& source, const TextureRegion& region,
                   std::span<std::byte> data);

Status write_texture(Device& device, const std::shared_ptr<Texture>& target,
                     const TextureRegion& region, std::span<const std::byte> data);
Status read_texture(Device& device, const std::shared_ptr<Texture>& source,
                    const TextureRegion& region, std::span<std::byte> data);

}  // namespace texloom::hal
