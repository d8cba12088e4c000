// Buffers and textures of the OpenCL driver.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/memory/buffer_parts.h"
#include "runtime/drivers/opencl/memory/map_queue.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Shared virtual memory, released with its owner: kernels get addresses in it. Move-only.
class AddressedMemory {
 public:
  AddressedMemory() = default;
  AddressedMemory(AddressedMemory&& other) noexcept { *this = std::move(other); }
  AddressedMemory& operator=(AddressedMemory&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~AddressedMemory();

  static Result<AddressedMemory> allocate(std::shared_ptr<const Context> context,
                                          std::uint64_t bytes);
  std::byte* address() const { return address_; }  // for kernels, not for the host

 private:
  std::shared_ptr<const Context> context_;
  std::byte* address_ = nullptr;
};

class OpenClBuffer final : public Buffer {
 public:
  // `desc` has passed check_creation(). `imported` is host memory that becomes the buffer, or null.
  static Result<std::shared_ptr<Buffer>> create(std::shared_ptr<const Context> context,
                                                std::shared_ptr<MapQueue> map_queue,
                                                const BufferDesc& desc, std::byte* imported);
  // `memory` is the application's cl_mem; a sub-buffer is described, but not wrapped.
  static Result<NativeBuffer> describe(const Context& context, void* memory);
  static Result<std::shared_ptr<Buffer>> wrap(std::shared_ptr<const Context> context,
                                              std::shared_ptr<MapQueue> map_queue, void* memory,
                                              const BufferDesc& desc);
  ~OpenClBuffer() override { parts_->clear(); }

  cl_mem get() const { return memory_.get(); }
  // The address that kernels get instead of a memory object; null if they get the object. A queue
  // keeps the buffer until its submitted work has run.
  std::byte* address() const { return addressed_.address(); }
  // The memory object for the bytes [offset, offset + bytes), for use as a kernel argument. Thread
  // safe.
  Result<PartUse> part(std::uint64_t offset, std::uint64_t bytes) const {
    return parts_->use(*context_, get(), offset, bytes);
  }

 private:
  OpenClBuffer(std::shared_ptr<const Context> context, std::shared_ptr<MapQueue> map_queue,
               const BufferDesc& desc, AddressedMemory addressed, MemoryHandle memory);

  Result<std::byte*> map_memory(std::uint64_t offset, std::uint64_t bytes, Access access) override;
  Status unmap_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes,
                      Access access) override;
  Status flush_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes) override;
  Status invalidate_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes) override;

  std::shared_ptr<const Context> context_;
  std::shared_ptr<MapQueue> map_queue_;
  AddressedMemory addressed_;  // declared before memory_, which wraps it, so destroyed after it
  MemoryHandle memory_;
  std::shared_ptr<BufferParts> parts_ = std::make_shared<BufferParts>();
};

class OpenClTexture final : public Texture {
 public:
  // `desc` has passed check_creation() and its format is supported.
  static Result<std::shared_ptr<Texture>> create(std::shared_ptr<const Context> context,
                                                 const TextureDesc& desc);
  // `backing` and `desc` have passed check_view.
  static Result<std::shared_ptr<Texture>> create_view(std::shared_ptr<const Context> context,
                                                      const TextureBacking& backing,
                                                      const TextureDesc& desc);
  // `image` is the application's cl_mem.
  static Result<std::shared_ptr<Texture>> wrap(std::shared_ptr<const Context> context, void* image);
  cl_mem get() const { return memory_.get(); }

 private:
  OpenClTexture(std::shared_ptr<const Context> context, const TextureDesc& desc,
                MemoryHandle memory);

  std::shared_ptr<const Context> context_;
  MemoryHandle memory_;
};

// Allocates memory of the device, with `flags` in addition to CL_MEM_READ_WRITE.
Result<MemoryHandle> create_memory(const Context& context, std::uint64_t bytes,
                                   cl_mem_flags flags = 0, std::byte* host = nullptr);

// Creates a memory object for the bytes [offset, offset + bytes) of `buffer`, which it keeps alive.
Result<MemoryHandle> create_part(const Context& context, cl_mem buffer, std::uint64_t offset,
                                 std::uint64_t bytes);

// Casts an object named by a command buffer, which accepts only objects of its own driver.
inline const OpenClBuffer& as_opencl(const Buffer& buffer) {
  return static_cast<const OpenClBuffer&>(buffer);
}
inline const OpenClTexture& as_opencl(const Texture& texture) {
  return static_cast<const OpenClTexture&>(texture);
}

}  // namespace texloom::hal::opencl
