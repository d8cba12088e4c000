#include "runtime/drivers/host/memory.h"

#include <new>

#include "runtime/drivers/host/native.h"
#include "support/byte_text.h"

namespace texloom::hal::host {

void FreeAligned::operator()(std::byte* memory) const {
  ::operator delete(memory, std::align_val_t(kMemoryAlignment));
}

HostMemoryBlock allocate_aligned(std::uint64_t bytes) {
  if (bytes > SIZE_MAX) return nullptr;
  return HostMemoryBlock(static_cast<std::byte*>(::operator new(
      static_cast<std::size_t>(bytes), std::align_val_t(kMemoryAlignment), std::nothrow)));
}

namespace {

Result<HostMemoryBlock> take(std::uint64_t bytes) {
  HostMemoryBlock memory = allocate_aligned(bytes);
  if (memory == nullptr)
    return make_error(StatusCode::OutOfMemory, "no host memory for {}", byte_text(bytes));
  return memory;
}

}  // namespace

Result<std::shared_ptr<Buffer>> HostAllocator::allocate(const BufferDesc& desc) {
  TL_ASSIGN_OR_RETURN(HostMemoryBlock memory, take(desc.bytes));
  std::byte* first = memory.get();
  return std::shared_ptr<Buffer>(
      std::make_shared<HostBuffer>(shared_info(), desc, std::move(memory), first));
}

Result<std::shared_ptr<Texture>> HostAllocator::allocate(const TextureDesc& desc) {
  const std::uint64_t row_pitch = std::uint64_t{desc.extent.width} * bytes_per_texel(desc.format);
  TL_ASSIGN_OR_RETURN(HostMemoryBlock memory, take(row_pitch * desc.extent.height));
  std::byte* first = memory.get();
  return std::shared_ptr<Texture>(
      std::make_shared<HostTexture>(shared_info(), desc, std::move(memory), first, row_pitch));
}

Result<std::shared_ptr<Buffer>> HostAllocator::wrap(std::span<std::byte> memory,
                                                    const BufferDesc& desc) {
  return std::shared_ptr<Buffer>(
      std::make_shared<HostBuffer>(shared_info(), desc, nullptr, memory.data()));
}

Result<std::shared_ptr<Texture>> HostAllocator::view(const TextureBacking& backing,
                                                     const TextureDesc& desc) {
  return std::shared_ptr<Texture>(std::make_shared<HostTexture>(
      shared_info(), desc, nullptr, as_host(*backing.buffer).data() + backing.offset,
      backing.row_pitch));
}

std::byte* native_memory(const BoundBuffer& place) {
  return as_host(*place.buffer).data() + place.offset;
}

Image native_memory(const BoundTexture& place) { return as_host(*place.texture).image(); }

}  // namespace texloom::hal::host
