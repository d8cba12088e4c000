// Buffers, textures and executables of the host driver.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/drivers/host/image.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal::host {

struct FreeAligned {
  void operator()(std::byte* memory) const;
};
// Aligned to kMemoryAlignment; undefined at first.
using HostMemoryBlock = std::unique_ptr<std::byte[], FreeAligned>;
// Null when there is no room.
HostMemoryBlock allocate_aligned(std::uint64_t bytes);

class HostBuffer final : public Buffer {
 public:
  // `desc` has passed hal/creation_check.h.
  static Result<std::shared_ptr<Buffer>> create(std::shared_ptr<const DeviceInfo> info,
                                                const BufferDesc& desc);
  // Queues write it, handles to it are const.
  std::byte* data() const { return memory_.get(); }

 private:
  HostBuffer(std::shared_ptr<const DeviceInfo> info, const BufferDesc& desc, HostMemoryBlock memory)
      : Buffer(std::move(info), desc), memory_(std::move(memory)) {}

  HostMemoryBlock memory_;
};

// Rows of texels without gaps.
class HostTexture final : public Texture {
 public:
  // `desc` has passed hal/creation_check.h.
  static Result<std::shared_ptr<Texture>> create(std::shared_ptr<const DeviceInfo> info,
                                                 const TextureDesc& desc);
  Image image() const {
    return {memory_.get(), extent(), format(),
            std::uint64_t{extent().width} * bytes_per_texel(format())};
  }

 private:
  HostTexture(std::shared_ptr<const DeviceInfo> info, const TextureDesc& desc,
              HostMemoryBlock memory)
      : Texture(std::move(info), desc), memory_(std::move(memory)) {}

  HostMemoryBlock memory_;
};

// A HAL object that is known to be of this driver, since a command buffer takes no other.
inline const HostBuffer& as_host(const Buffer& buffer) {
  return static_cast<const HostBuffer&>(buffer);
}
inline const HostTexture& as_host(const Texture& texture) {
  return static_cast<const HostTexture&>(texture);
}

}  // namespace texloom::hal::host
