#include "runtime/drivers/metal/memory/allocator.h"

#include "runtime/drivers/metal/memory/map_queue.h"
#include "runtime/drivers/metal/memory/memory.h"

namespace texloom::hal::metal {

MetalAllocator::MetalAllocator(std::shared_ptr<const Context> context, const DeviceOptions& options)
    : Allocator(context->info(), options),
      context_(std::move(context)),
      map_queue_(std::make_shared<MapQueue>(context_)) {}

Result<std::shared_ptr<Buffer>> MetalAllocator::allocate(const BufferDesc& desc) {
  return MetalBuffer::create(context_, map_queue_, desc, nullptr);
}

Result<std::shared_ptr<Texture>> MetalAllocator::allocate(const TextureDesc& desc) {
  return MetalTexture::create(context_, desc);
}

Result<std::shared_ptr<Buffer>> MetalAllocator::wrap(std::span<std::byte> memory,
                                                     const BufferDesc& desc) {
  return MetalBuffer::create(context_, map_queue_, desc, memory.data());
}

Result<std::shared_ptr<Texture>> MetalAllocator::view(const TextureBacking& backing,
                                                      const TextureDesc& desc) {
  return MetalTexture::create_view(context_, backing, desc);
}

}  // namespace texloom::hal::metal
