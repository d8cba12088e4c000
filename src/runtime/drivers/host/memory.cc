#include "runtime/drivers/host/memory.h"

#include <new>

namespace texloom::hal::host {

void FreeAligned::operator()(std::byte* memory) const {
  ::operator delete(memory, std::align_val_t(kMemoryAlignment));
}

HostMemoryBlock allocate_aligned(std::uint64_t bytes) {
  if (bytes > SIZE_MAX) return nullptr;
  return HostMemoryBlock(static_cast<std::byte*>(::operator new(
      static_cast<std::size_t>(bytes), std::align_val_t(kMemoryAlignment), std::nothrow)));
}

Result<std::shared_ptr<Buffer>> HostBuffer::create(std::shared_ptr<const DeviceInfo> info,
                                                   const BufferDesc& desc) {
  HostMemoryBlock memory = allocate_aligned(desc.bytes);
  if (memory == nullptr)
    return make_error(StatusCode::OutOfMemory, "no host memory for a buffer of {} bytes",
                      desc.bytes);
  return std::shared_ptr<Buffer>(new HostBuffer(std::move(info), desc, std::move(memory)));
}

Result<std::shared_ptr<Texture>> HostTexture::create(std::shared_ptr<const DeviceInfo> info,
                                                     const TextureDesc& desc) {
  HostMemoryBlock memory = allocate_aligned(std::uint64_t{desc.extent.width} * desc.extent.height *
                                            bytes_per_texel(desc.format));
  if (memory == nullptr)
    return make_error(StatusCode::OutOfMemory, "no host memory for a texture {} of {}",
                      to_string(desc.format), to_string(desc.extent));
  return std::shared_ptr<Texture>(new HostTexture(std::move(info), desc, std::move(memory)));
}

}  // namespace texloom::hal::host
