#include "runtime/drivers/opencl/memory/allocator.h"

#include "runtime/drivers/opencl/memory/map_queue.h"
#include "runtime/drivers/opencl/memory/memory.h"

namespace texloom::hal::opencl {

OpenClAllocator::OpenClAllocator(std::shared_ptr<const Context> context,
                                 const DeviceOptions& options)
    : Allocator(context->info(), options),
      context_(std::move(context)),
      map_queue_(std::make_shared<MapQueue>(context_)) {}

Result<std::shared_ptr<Buffer>> OpenClAllocator::allocate(const BufferDesc& desc) {
  return OpenClBuffer::create(context_, map_queue_, desc, nullptr);
}

Result<std::shared_ptr<Texture>> OpenClAllocator::allocate(const TextureDesc& desc) {
  return OpenClTexture::create(context_, desc);
}

Result<std::shared_ptr<Buffer>> OpenClAllocator::wrap(std::span<std::byte> memory,
                                                      const BufferDesc& desc) {
  return OpenClBuffer::create(context_, map_queue_, desc, memory.data());
}

Result<std::shared_ptr<Texture>> OpenClAllocator::view(const TextureBacking& backing,
                                                       const TextureDesc& desc) {
  return OpenClTexture::create_view(context_, backing, desc);
}

}  // namespace texloom::hal::opencl
