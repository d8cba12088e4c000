// Allocates memory of an OpenCL device.
#pragma once

#include <memory>

#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/allocator.h"
#include "support/status.h"

namespace texloom::hal::opencl {

class MapQueue;

class OpenClAllocator final : public Allocator {
 public:
  OpenClAllocator(std::shared_ptr<const Context> context, const DeviceOptions& options);

  bool supports(TexelFormat format, TextureUsage usage) const override {
    return context_->supports(format, usage);
  }

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

}  // namespace texloom::hal::opencl
