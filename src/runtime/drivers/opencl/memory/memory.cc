#include "runtime/drivers/opencl/memory/memory.h"

#include <memory>
#include <new>

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/api/native.h"
#include "runtime/drivers/opencl/memory/native_memory.h"
#include "support/byte_text.h"

namespace texloom::hal::opencl {

Result<MemoryHandle> create_memory(const Context& context, std::uint64_t bytes, cl_mem_flags flags,
                                   std::byte* host) {
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(
      context.shared_api(),
      context.api().clCreateBuffer(context.get(), CL_MEM_READ_WRITE | flags, bytes, host, &code));
  const Status status = check_made(code, memory.get(), "clCreateBuffer");
  if (!status.ok()) return status.with_context(fmt::format("a buffer of {} bytes", bytes));
  return memory;
}

Result<MemoryHandle> create_part(const Context& context, cl_mem buffer, std::uint64_t offset,
                                 std::uint64_t bytes) {
  const cl_buffer_region region = {offset, bytes};
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(
      context.shared_api(),
      context.api().clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  TL_RETURN_IF_ERROR(check_made(code, memory.get(), "clCreateSubBuffer"));
  return memory;
}

AddressedMemory::~AddressedMemory() {
  if (address_ != nullptr) context_->api().clSVMFree(context_->get(), address_);
}

Result<AddressedMemory> AddressedMemory::allocate(std::shared_ptr<const Context> context,
                                                  std::uint64_t bytes) {
  AddressedMemory memory;
  memory.address_ = static_cast<std::byte*>(
      context->api().clSVMAlloc(context->get(), CL_MEM_READ_WRITE, bytes, 0));
  if (memory.address_ == nullptr)
    return make_error(StatusCode::OutOfMemory, "clSVMAlloc: no memory for a buffer of {} bytes",
                      bytes);
  memory.context_ = std::move(context);
  return memory;
}

namespace {

// Whether kernels get the buffer's address. False if the host accesses the memory, and for views,
// which need a memory object for a part of the buffer.
bool has_address(const Context& context, const BufferDesc& desc) {
  return context.has_addresses() && desc.memory == MemoryKind::Device &&
         !allows(desc.usage, BufferUsage::View);
}

}  // namespace

OpenClBuffer::OpenClBuffer(std::shared_ptr<const Context> context,
                           std::shared_ptr<MapQueue> map_queue, const BufferDesc& desc,
                           AddressedMemory addressed, MemoryHandle memory)
    : Buffer(context->info(), desc),
      context_(std::move(context)),
      map_queue_(std::move(map_queue)),
      addressed_(std::move(addressed)),
      memory_(std::move(memory)) {}

Result<std::shared_ptr<Buffer>> OpenClBuffer::create(std::shared_ptr<const Context> context,
                                                     std::shared_ptr<MapQueue> map_queue,
                                                     const BufferDesc& desc, std::byte* imported) {
  cl_mem_flags flags = 0;
  AddressedMemory addressed;
  if (imported == nullptr && has_address(*context, desc)) {
    TL_ASSIGN_OR_RETURN(addressed, AddressedMemory::allocate(context, desc.bytes));
    imported = addressed.address();
  }
  if (imported != nullptr)
    flags = CL_MEM_USE_HOST_PTR;
  else if (desc.memory == MemoryKind::Shared)
    flags = CL_MEM_ALLOC_HOST_PTR;
  TL_ASSIGN_OR_RETURN(MemoryHandle memory, create_memory(*context, desc.bytes, flags, imported));
  return std::shared_ptr<Buffer>(new OpenClBuffer(std::move(context), std::move(map_queue), desc,
                                                  std::move(addressed), std::move(memory)));
}

Result<NativeBuffer> OpenClBuffer::describe(const Context& context, void* memory) {
  return describe_buffer(context, static_cast<cl_mem>(memory));
}

Result<std::shared_ptr<Buffer>> OpenClBuffer::wrap(std::shared_ptr<const Context> context,
                                                   std::shared_ptr<MapQueue> map_queue,
                                                   void* memory, const BufferDesc& desc) {
  TL_ASSIGN_OR_RETURN(MemoryHandle handle, retain(*context, static_cast<cl_mem>(memory)));
  return std::shared_ptr<Buffer>(new OpenClBuffer(std::move(context), std::move(map_queue), desc,
                                                  AddressedMemory(), std::move(handle)));
}

// Managed memory has a copy in host memory while it is mapped, which only the four functions below
// synchronize. For other kinds the implementation returns a pointer for the host.
Result<std::byte*> OpenClBuffer::map_memory(std::uint64_t offset, std::uint64_t bytes,
                                            Access access) {
  if (desc().memory != MemoryKind::Managed) return map_queue_->map(get(), offset, bytes, access);
  std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes]);
  if (copy == nullptr)
    return make_error(StatusCode::OutOfMemory, "no host memory for {}", byte_text(bytes));
  if (reads(access)) TL_RETURN_IF_ERROR(map_queue_->read(get(), offset, bytes, copy.get()));
  return copy.release();
}

Status OpenClBuffer::unmap_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes,
                                  Access access) {
  if (desc().memory != MemoryKind::Managed) return map_queue_->unmap(get(), memory);
  const std::unique_ptr<std::byte[]> copy(memory);
  return writes(access) ? map_queue_->write(get(), offset, bytes, memory) : Status();
}

Status OpenClBuffer::flush_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes) {
  if (desc().memory != MemoryKind::Managed) return {};
  return map_queue_->write(get(), offset, bytes, memory);
}

Status OpenClBuffer::invalidate_memory(std::byte* memory, std::uint64_t offset,
                                       std::uint64_t bytes) {
  if (desc().memory != MemoryKind::Managed) return {};
  return map_queue_->read(get(), offset, bytes, memory);
}

OpenClTexture::OpenClTexture(std::shared_ptr<const Context> context, const TextureDesc& desc,
                             MemoryHandle memory)
    : Texture(context->info(), desc), context_(std::move(context)), memory_(std::move(memory)) {}

namespace {

// `buffer` and `row_pitch` (bytes) describe a view; null and 0 otherwise.
Result<MemoryHandle> create_image(const Context& context, const TextureDesc& desc, cl_mem buffer,
                                  std::uint64_t row_pitch) {
  const cl_image_format format = image_format(desc.format);
  cl_image_desc image = {};
  image.image_type = CL_MEM_OBJECT_IMAGE2D;
  image.image_width = desc.extent.width;
  image.image_height = desc.extent.height;
  image.image_row_pitch = row_pitch;
  image.buffer = buffer;
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(context.shared_api(),
                      context.api().clCreateImage(context.get(), memory_flags(desc.usage), &format,
                                                  &image, nullptr, &code));
  const Status status = check_made(code, memory.get(), "clCreateImage");
  if (status.ok()) return memory;
  return status.with_context(
      fmt::format("a texture {} of {}", to_string(desc.format), to_string(desc.extent)));
}

}  // namespace

Result<std::shared_ptr<Texture>> OpenClTexture::create(std::shared_ptr<const Context> context,
                                                       const TextureDesc& desc) {
  TL_ASSIGN_OR_RETURN(MemoryHandle memory, create_image(*context, desc, nullptr, 0));
  return std::shared_ptr<Texture>(new OpenClTexture(std::move(context), desc, std::move(memory)));
}

Result<std::shared_ptr<Texture>> OpenClTexture::wrap(std::shared_ptr<const Context> context,
                                                     void* image) {
  const auto object = static_cast<cl_mem>(image);
  TL_ASSIGN_OR_RETURN(const TextureDesc desc, describe_image(*context, object));
  TL_ASSIGN_OR_RETURN(MemoryHandle handle, retain(*context, object));
  return std::shared_ptr<Texture>(new OpenClTexture(std::move(context), desc, std::move(handle)));
}

// OpenCL's reference counts keep the part alive for the image, and the buffer for the part.
Result<std::shared_ptr<Texture>> OpenClTexture::create_view(std::shared_ptr<const Context> context,
                                                            const TextureBacking& backing,
                                                            const TextureDesc& desc) {
  const OpenClBuffer& buffer = as_opencl(*backing.buffer);
  MemoryHandle part;
  if (backing.offset != 0) {
    TL_ASSIGN_OR_RETURN(part, create_part(*context, buffer.get(), backing.offset,
                                          backing.row_pitch * desc.extent.height));
  }
  TL_ASSIGN_OR_RETURN(
      MemoryHandle memory,
      create_image(*context, desc, part ? part.get() : buffer.get(), backing.row_pitch));
  return std::shared_ptr<Texture>(new OpenClTexture(std::move(context), desc, std::move(memory)));
}

cl_mem native_memory(const BoundBuffer& place) { return as_opencl(*place.buffer).get(); }
cl_mem native_memory(const BoundTexture& place) { return as_opencl(*place.texture).get(); }

}  // namespace texloom::hal::opencl
