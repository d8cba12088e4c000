// Buffers and textures of the host driver.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/drivers/host/image.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/allocator.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal::host {

struct FreeAligned {
  void operator()(std::byte* memory) const;
};
// Memory aligned to kMemoryAlignment and initially undefined.
using HostMemoryBlock = std::unique_ptr<std::byte[], FreeAligned>;
// Null if there is no memory.
HostMemoryBlock allocate_aligned(std::uint64_t bytes);

class HostBuffer final : public Buffer {
 public:
  HostBuffer(std::shared_ptr<const DeviceInfo> info, const BufferDesc& desc, HostMemoryBlock owned,
             std::byte* memory)
      : Buffer(std::move(info), desc), owned_(std::move(owned)), memory_(memory) {}

  // Not const, because queues write the memory through const handles.
  std::byte* data() const { return memory_; }

 private:
  Result<std::byte*> map_memory(std::uint64_t offset, std::uint64_t, Access) override {
    return memory_ + offset;
  }

  HostMemoryBlock owned_;  // null for imported memory
  std::byte* memory_;
};

class HostTexture final : public Texture {
 public:
  HostTexture(std::shared_ptr<const DeviceInfo> info, const TextureDesc& desc,
              HostMemoryBlock owned, std::byte* texels, std::uint64_t row_pitch)
      : Texture(std::move(info), desc),
        owned_(std::move(owned)),
        texels_(texels),
        row_pitch_(row_pitch) {}

  Image image() const { return {texels_, extent(), format(), row_pitch_}; }

 private:
  HostMemoryBlock owned_;  // null for a view, whose buffer the base class keeps
  std::byte* texels_;
  std::uint64_t row_pitch_;  // bytes
};

// Allocates host memory, all of which can be mapped.
class HostAllocator final : public Allocator {
 public:
  HostAllocator(std::shared_ptr<const DeviceInfo> info, const DeviceOptions& options)
      : Allocator(std::move(info), options) {}

  bool supports(TexelFormat, TextureUsage) const override { return true; }

 private:
  Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) override;
  Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) override;
  Result<std::shared_ptr<Buffer>> wrap(std::span<std::byte> memory,
                                       const BufferDesc& desc) override;
  Result<std::shared_ptr<Texture>> view(const TextureBacking& backing,
                                        const TextureDesc& desc) override;
};

// Casts an object named by a command buffer, which accepts only objects of its own driver.
inline const HostBuffer& as_host(const Buffer& buffer) {
  return static_cast<const HostBuffer&>(buffer);
}
inline const HostTexture& as_host(const Texture& texture) {
  return static_cast<const HostTexture&>(texture);
}

}  // namespace texloom::hal::host
