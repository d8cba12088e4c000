#include "runtime/drivers/opencl/memory.h"

#include "runtime/drivers/opencl/error.h"

namespace texloom::hal::opencl {

Result<MemoryHandle> create_memory(const Context& context, std::uint64_t bytes) {
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(
      context.shared_api(),
      context.api().clCreateBuffer(context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  if (code != CL_SUCCESS)
    return to_status(code, "clCreateBuffer")
        .with_context(fmt::format("a buffer of {} bytes", bytes));
  return memory;
}

Result<MemoryHandle> create_part(const Context& context, const OpenClBuffer& buffer,
                                 std::uint64_t offset, std::uint64_t bytes) {
  const cl_buffer_region region = {offset, bytes};
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(context.shared_api(), context.api().clCreateSubBuffer(
                                                buffer.get(), CL_MEM_READ_WRITE,
                                                CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  TL_RETURN_IF_ERROR(to_status(code, "clCreateSubBuffer"));
  return memory;
}

OpenClBuffer::OpenClBuffer(std::shared_ptr<const Context> context, const BufferDesc& desc,
                           MemoryHandle memory)
    : Buffer(context->info(), desc), context_(std::move(context)), memory_(std::move(memory)) {}

Result<std::shared_ptr<Buffer>> OpenClBuffer::create(std::shared_ptr<const Context> context,
                                                     const BufferDesc& desc) {
  TL_ASSIGN_OR_RETURN(MemoryHandle memory, create_memory(*context, desc.bytes));
  return std::shared_ptr<Buffer>(new OpenClBuffer(std::move(context), desc, std::move(memory)));
}

OpenClTexture::OpenClTexture(std::shared_ptr<const Context> context, const TextureDesc& desc,
                             MemoryHandle memory)
    : Texture(context->info(), desc), context_(std::move(context)), memory_(std::move(memory)) {}

Result<std::shared_ptr<Texture>> OpenClTexture::create(std::shared_ptr<const Context> context,
                                                       const TextureDesc& desc) {
  const cl_image_format format = image_format(desc.format);
  cl_image_desc image = {};
  image.image_type = CL_MEM_OBJECT_IMAGE2D;
  image.image_width = desc.extent.width;
  image.image_height = desc.extent.height;
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(context->shared_api(),
                      context->api().clCreateImage(context->get(), memory_flags(desc.usage),
                                                   &format, &image, nullptr, &code));
  if (code != CL_SUCCESS)
    return to_status(code, "clCreateImage")
        .with_context(
            fmt::format("a texture {} of {}", to_string(desc.format), to_string(desc.extent)));
  return std::shared_ptr<Texture>(new OpenClTexture(std::move(context), desc, std::move(memory)));
}

}  // namespace texloom::hal::opencl
