// Allocates memory of a Metal device.
#pragma once

#include <memory>

#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/allocator.h"
#include "support/status.h"

namespace texloom::hal::metal {

class MapQueue;

class MetalAllocator final : public Allocator {
 public:
  MetalAllocator(std::shared_ptr<const Context> context, const DeviceOptions& options);

  // All formats have four channels of 8, 16 or 32 bits, which every device reads and writes.
  bool supports(TexelFormat, TextureUsage) const override { return true; }

 private:
  Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) override;
  Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) override;
  Result<std::shared_ptr<Buffer>> wrap(std::span<std::byte> memory,
                                       const BufferDesc& desc) override;
  Result<std::shared_ptr<Texture>> view(const TextureBacking& backing,
                                        const TextureDesc& desc) override;

  std::shared_ptr<const Context> context_;
  std::shared_ptr<MapQueue> map_queue_;
};

}  // namespace texloom::hal::metal
