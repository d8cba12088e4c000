#include "runtime/drivers/opencl/memory/native_memory.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/drivers/opencl/api/error.h"

namespace texloom::hal::opencl {
namespace {

template <typename T>
Result<T> memory_info(const Context& context, cl_mem memory, cl_mem_info name) {
  T value = {};
  const cl_int code = context.api().clGetMemObjectInfo(memory, name, sizeof value, &value, nullptr);
  if (code == CL_INVALID_MEM_OBJECT)
    return invalid_argument("the object is not a valid cl_mem of the loader that Texloom uses");
  TL_RETURN_IF_ERROR(to_status(code, "clGetMemObjectInfo"));
  return value;
}

template <typename T>
Result<T> image_info(const Context& context, cl_mem image, cl_image_info name) {
  T value = {};
  TL_RETURN_IF_ERROR(to_status(
      context.api().clGetImageInfo(image, name, sizeof value, &value, nullptr), "clGetImageInfo"));
  return value;
}

std::string_view kind_name(cl_mem_object_type kind) {
  switch (kind) {
    case CL_MEM_OBJECT_BUFFER:
      return "a buffer";
    case CL_MEM_OBJECT_IMAGE2D:
      return "a 2-D image";
    case CL_MEM_OBJECT_IMAGE3D:
      return "a 3-D image";
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return "an array of 2-D images";
    case CL_MEM_OBJECT_IMAGE1D:
      return "a 1-D image";
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return "an array of 1-D images";
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return "a 1-D image of a buffer";
    default:
      return "an object of another kind";
  }
}

Status check_object(const Context& context, cl_mem memory, cl_mem_object_type wanted) {
  TL_ASSIGN_OR_RETURN(const auto kind,
                      memory_info<cl_mem_object_type>(context, memory, CL_MEM_TYPE));
  if (kind != wanted)
    return invalid_argument("the object is {}, expected {}", kind_name(kind), kind_name(wanted));
  TL_ASSIGN_OR_RETURN(const auto own, memory_info<cl_context>(context, memory, CL_MEM_CONTEXT));
  if (own != context.get())
    return invalid_argument(
        "{} belongs to another cl_context than device {}; help: open the device over that context "
        "(open_native), or make the object in the device's context",
        kind_name(kind), context.info()->name);
  return {};
}

Access access_of(cl_mem_flags flags) {
  if ((flags & CL_MEM_READ_ONLY) != 0) return Access::Read;
  return (flags & CL_MEM_WRITE_ONLY) != 0 ? Access::Write : Access::ReadWrite;
}

// The driver's own kernels do some copies and fills, so these need the kernels' access too.
BufferUsage buffer_usage(Access kernels) {
  BufferUsage usage = BufferUsage::Storage;
  if (reads(kernels)) usage = usage | BufferUsage::CopySource | BufferUsage::Indirect;
  return writes(kernels) ? usage | BufferUsage::CopyTarget : usage;
}

TextureUsage texture_usage(Access kernels) {
  TextureUsage usage = TextureUsage::CopySource | TextureUsage::CopyTarget;
  if (reads(kernels)) usage = usage | TextureUsage::Sampled;
  return writes(kernels) ? usage | TextureUsage::Storage : usage;
}

Result<TexelFormat> texel_format(const cl_image_format& format) {
  std::string known;
  for (const TexelFormat each : kAllTexelFormats) {
    const cl_image_format wanted = image_format(each);
    if (wanted.image_channel_order == format.image_channel_order &&
        wanted.image_channel_data_type == format.image_channel_data_type)
      return each;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(each));
  }
  return invalid_argument(
      "an image of the channel order {:#x} and the channel type {:#x} cannot be a texture; help: "
      "make it with CL_RGBA (0x10b5) in one of the formats {}",
      format.image_channel_order, format.image_channel_data_type, known);
}

// Kernels and copies would use only the first level or sample of an image.
Status check_plain(const Context& context, cl_mem image) {
  TL_ASSIGN_OR_RETURN(const auto levels,
                      image_info<cl_uint>(context, image, CL_IMAGE_NUM_MIP_LEVELS));
  TL_ASSIGN_OR_RETURN(const auto samples,
                      image_info<cl_uint>(context, image, CL_IMAGE_NUM_SAMPLES));
  if (levels > 1 || samples > 1)
    return invalid_argument(
        "the image has {} levels and {} samples for each texel, and a texture has one of both; "
        "help: copy the level, or resolve the samples, into a plain image",
        std::max<cl_uint>(levels, 1), std::max<cl_uint>(samples, 1));
  TL_ASSIGN_OR_RETURN(const auto other,
                      memory_info<cl_mem>(context, image, CL_MEM_ASSOCIATED_MEMOBJECT));
  if (other != nullptr)
    return invalid_argument(
        "the image is a view of another object, whose uses cannot be ordered with the image's; "
        "help: wrap that object");
  return {};
}

}  // namespace

Result<NativeBuffer> describe_buffer(const Context& context, cl_mem memory) {
  TL_RETURN_IF_ERROR(check_object(context, memory, CL_MEM_OBJECT_BUFFER));
  TL_ASSIGN_OR_RETURN(const auto bytes, memory_info<std::size_t>(context, memory, CL_MEM_SIZE));
  TL_ASSIGN_OR_RETURN(const auto flags, memory_info<cl_mem_flags>(context, memory, CL_MEM_FLAGS));
  NativeBuffer native;
  native.desc.bytes = bytes;
  native.uses.kernels = access_of(flags);
  native.uses.readback = (flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
  native.uses.update = (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
  native.desc.usage = buffer_usage(native.uses.kernels);
  TL_ASSIGN_OR_RETURN(native.whole,
                      memory_info<cl_mem>(context, memory, CL_MEM_ASSOCIATED_MEMOBJECT));
  TL_ASSIGN_OR_RETURN(native.offset, memory_info<std::size_t>(context, memory, CL_MEM_OFFSET));
  return native;
}

Result<TextureDesc> describe_image(const Context& context, cl_mem image) {
  TL_RETURN_IF_ERROR(check_object(context, image, CL_MEM_OBJECT_IMAGE2D));
  TL_RETURN_IF_ERROR(check_plain(context, image));
  TextureDesc desc;
  TL_ASSIGN_OR_RETURN(const auto format,
                      image_info<cl_image_format>(context, image, CL_IMAGE_FORMAT));
  TL_ASSIGN_OR_RETURN(desc.format, texel_format(format));
  TL_ASSIGN_OR_RETURN(const auto width, image_info<std::size_t>(context, image, CL_IMAGE_WIDTH));
  TL_ASSIGN_OR_RETURN(const auto height, image_info<std::size_t>(context, image, CL_IMAGE_HEIGHT));
  desc.extent = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
  TL_ASSIGN_OR_RETURN(const auto flags, memory_info<cl_mem_flags>(context, image, CL_MEM_FLAGS));
  desc.usage = texture_usage(access_of(flags));
  return desc;
}

Result<MemoryHandle> retain(const Context& context, cl_mem memory) {
  return MemoryHandle::retain<&Api::clRetainMemObject>(context.shared_api(), memory,
                                                       "clRetainMemObject");
}

}  // namespace texloom::hal::opencl
