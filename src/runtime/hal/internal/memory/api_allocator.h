// The allocator of a driver whose buffers and textures are objects of a graphics API.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "runtime/hal/allocator.h"
#include "support/status.h"

namespace texloom::hal {

// The driver gives four classes: the `Context` that the objects of one open device share, the
// `MapQueue` that maps its buffers, and `ApiBuffer` and `ApiTexture`, which create themselves.
template <typename Context, typename MapQueue, typename ApiBuffer, typename ApiTexture>
class ApiAllocator final : public Allocator {
 public:
  ApiAllocator(std::shared_ptr<const Context> context, const DeviceOptions& options)
      : Allocator(context->info(), options),
        context_(std::move(context)),
        map_queue_(std::make_shared<MapQueue>(context_)) {}

  bool supports(TexelFormat format, TextureUsage usage) const override {
    return context_->supports(format, usage);
  }

 private:
  Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) override {
    return ApiBuffer::create(context_, map_queue_, desc, nullptr);
  }
  Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) override {
    return ApiTexture::create(context_, desc);
  }
  Result<std::shared_ptr<Buffer>> wrap(std::span<std::byte> memory,
                                       const BufferDesc& desc) override {
    return ApiBuffer::create(context_, map_queue_, desc, memory.data());
  }
  Result<std::shared_ptr<Texture>> view(const TextureBacking& backing,
                                        const TextureDesc& desc) override {
    return ApiTexture::create_view(context_, backing, desc);
  }
  Result<NativeBuffer> describe_native_buffer(void* memory) override {
    return ApiBuffer::describe(*context_, memory);
  }
  Result<std::shared_ptr<Buffer>> wrap_native_buffer(void* memory,
                                                     const BufferDesc& desc) override {
    return ApiBuffer::wrap(context_, map_queue_, memory, desc);
  }
  Result<std::shared_ptr<Texture>> wrap_native_texture(void* image) override {
    return ApiTexture::wrap(context_, image);
  }

  std::shared_ptr<const Context> context_;
  std::shared_ptr<MapQueue> map_queue_;
};

}  // namespace texloom::hal
