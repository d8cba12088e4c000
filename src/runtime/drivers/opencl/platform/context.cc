#include "runtime/drivers/opencl/platform/context.h"

#include <vector>

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/platform/quirks.h"

namespace texloom::hal::opencl {

cl_mem_flags memory_flags(TextureUsage usage) {
  const bool sampled = allows(usage, TextureUsage::Sampled);
  const bool storage = allows(usage, TextureUsage::Storage);
  if (sampled == storage) return CL_MEM_READ_WRITE;
  return sampled ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
}

cl_image_format image_format(TexelFormat format) {
  const auto channel = [format]() -> cl_channel_type {
    switch (format) {
      case TexelFormat::Rgba8Int:
        return CL_SIGNED_INT8;
      case TexelFormat::Rgba8UInt:
        return CL_UNSIGNED_INT8;
      case TexelFormat::Rgba16Int:
        return CL_SIGNED_INT16;
      case TexelFormat::Rgba16UInt:
        return CL_UNSIGNED_INT16;
      case TexelFormat::Rgba32Int:
        return CL_SIGNED_INT32;
      case TexelFormat::Rgba32UInt:
        return CL_UNSIGNED_INT32;
      case TexelFormat::Rgba16Float:
        return CL_HALF_FLOAT;
      case TexelFormat::Rgba32Float:
        return CL_FLOAT;
      case TexelFormat::Rgba8Unorm:
        return CL_UNORM_INT8;
      case TexelFormat::Rgba16Unorm:
        return CL_UNORM_INT16;
    }
    return 0;
  };
  return {CL_RGBA, channel()};
}

namespace {

Result<ContextHandle> create_context(const std::shared_ptr<const Api>& api,
                                     const PlatformDevice& device) {
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), 0};
  cl_int code = CL_SUCCESS;
  ContextHandle made(api,
                     api->clCreateContext(properties, 1, &device.device, nullptr, nullptr, &code));
  TL_RETURN_IF_ERROR(check_made(code, made.get(), "clCreateContext"));
  return made;
}

}  // namespace

Result<std::shared_ptr<const Context>> Context::create(std::shared_ptr<const Api> api,
                                                       const PlatformDevice& device,
                                                       cl_context shared,
                                                       std::shared_ptr<BinaryCache> binary_cache,
                                                       std::shared_ptr<Profile> profile,
                                                       std::uint64_t scratch_bytes) {
  TL_ASSIGN_OR_RETURN(ContextHandle handle, shared == nullptr
                                                ? create_context(api, device)
                                                : ContextHandle::retain<&Api::clRetainContext>(
                                                      api, shared, "clRetainContext"));
  std::shared_ptr<Context> context(new Context(std::move(api), device, std::move(handle)));
  context->is_shared_ = shared != nullptr;
  context->binary_cache_ = std::move(binary_cache);
  context->profile_ = std::move(profile);
  context->scratch_bytes_ = scratch_bytes;
  context->has_addresses_ = context->can_pass_addresses();
  if (device.info->features.images) TL_RETURN_IF_ERROR(context->read_image_formats());
  return std::shared_ptr<const Context>(std::move(context));
}

bool Context::can_pass_addresses() const {
  if (!has_quirk(*info_, kSlowOverlappingParts) || api_->clSVMAlloc == nullptr ||
      api_->clSVMFree == nullptr || api_->clSetKernelArgSVMPointer == nullptr)
    return false;
  cl_device_svm_capabilities has = 0;
  return api_->clGetDeviceInfo(device_, CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, nullptr) ==
             CL_SUCCESS &&
         (has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
}

Status Context::read_image_formats() {
  for (const cl_mem_flags flags : {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY}) {
    cl_uint count = 0;
    TL_RETURN_IF_ERROR(to_status(
        api_->clGetSupportedImageFormats(get(), flags, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &count),
        "clGetSupportedImageFormats"));
    std::vector<cl_image_format> formats(count);
    if (count == 0) continue;
    TL_RETURN_IF_ERROR(
        to_status(api_->clGetSupportedImageFormats(get(), flags, CL_MEM_OBJECT_IMAGE2D, count,
                                                   formats.data(), nullptr),
                  "clGetSupportedImageFormats"));
    for (const TexelFormat format : kAllTexelFormats) {
      const cl_image_format wanted = image_format(format);
      for (const cl_image_format& supported : formats) {
        if (supported.image_channel_order == wanted.image_channel_order &&
            supported.image_channel_data_type == wanted.image_channel_data_type)
          image_flags_[static_cast<std::size_t>(format)] |= flags;
      }
    }
  }
  return {};
}

bool Context::supports(TexelFormat format, TextureUsage usage) const {
  return (image_flags_[static_cast<std::size_t>(format)] & memory_flags(usage)) != 0;
}

std::unique_lock<std::mutex> Context::lock_build() const {
  std::unique_lock lock(building_, std::defer_lock);
  if (has_quirk(*info_, kOneBuildAtATime)) lock.lock();
  return lock;
}

}  // namespace texloom::hal::opencl
