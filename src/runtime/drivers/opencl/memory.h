// Buffers and textures of the OpenCL driver.
#pragma once

#include <memory>

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal::opencl {

class OpenClBuffer final : public Buffer {
 public:
  // `desc` has passed hal/creation_check.h.
  static Result<std::shared_ptr<Buffer>> create(std::shared_ptr<const Context> context,
                                                const BufferDesc& desc);
  cl_mem get() const { return memory_.get(); }

 private:
  OpenClBuffer(std::shared_ptr<const Context> context, const BufferDesc& desc, MemoryHandle memory);

  std::shared_ptr<const Context> context_;
  MemoryHandle memory_;
};

class OpenClTexture final : public Texture {
 public:
  // `desc` has passed hal/creation_check.h and its format is supported.
  static Result<std::shared_ptr<Texture>> create(std::shared_ptr<const Context> context,
                                                 const TextureDesc& desc);
  cl_mem get() const { return memory_.get(); }

 private:
  OpenClTexture(std::shared_ptr<const Context> context, const TextureDesc& desc,
                MemoryHandle memory);

  std::shared_ptr<const Context> context_;
  MemoryHandle memory_;
};

Result<MemoryHandle> create_memory(const Context& context, std::uint64_t bytes);

// The bytes [offset, offset + bytes) of `buffer`, as an object that a kernel argument can be.
Result<MemoryHandle> create_part(const Context& context, const OpenClBuffer& buffer,
                                 std::uint64_t offset, std::uint64_t bytes);

// A HAL object that is known to be of this driver, since a command buffer takes no other.
inline const OpenClBuffer& as_opencl(const Buffer& buffer) {
  return static_cast<const OpenClBuffer&>(buffer);
}
inline const OpenClTexture& as_opencl(const Texture& texture) {
  return static_cast<const OpenClTexture&>(texture);
}

}  // namespace texloom::hal::opencl
