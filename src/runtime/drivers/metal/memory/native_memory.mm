#include "runtime/drivers/metal/memory/native_memory.h"

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/memory/memory.h"
#include "runtime/drivers/metal/platform/native_device.h"
#include "runtime/drivers/metal/platform/pixel_format.h"

namespace texloom::hal::metal {
namespace {

// Metal orders the application's encoders and the driver's only by the memory that it tracks.
Status check_resource(const Context& context, id<MTLResource> resource) {
  if (!is_same_device(resource.device, context.device()))
    return invalid_argument("the object belongs to another id<MTLDevice> than device {}",
                            context.info()->name);
  if (resource.hazardTrackingMode == MTLHazardTrackingModeUntracked)
    return invalid_argument(
        "Metal does not track the object's memory, so nothing orders its uses; help: make it with "
        "MTLResourceHazardTrackingModeTracked");
  if (resource.storageMode == MTLStorageModeMemoryless)
    return invalid_argument("the object has no memory (MTLStorageModeMemoryless)");
  return {};
}

Result<TexelFormat> texel_format(MTLPixelFormat format) {
  std::string known;
  for (const TexelFormat each : kAllTexelFormats) {
    if (pixel_format(each) == format) return each;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(each));
  }
  return invalid_argument(
      "a texture of the pixel format {} cannot be used; help: make it in one of {}",
      static_cast<unsigned long>(format), known);
}

// A usage of 0 (MTLTextureUsageUnknown) stands for all uses.
TextureUsage texture_usage(MTLTextureUsage made) {
  TextureUsage usage = TextureUsage::CopySource | TextureUsage::CopyTarget;
  if (made == 0 || (made & MTLTextureUsageShaderRead) != 0) usage = usage | TextureUsage::Sampled;
  if (made == 0 || (made & MTLTextureUsageShaderWrite) != 0) usage = usage | TextureUsage::Storage;
  return usage;
}

}  // namespace

Result<NativeBuffer> describe_buffer(const Context& context, void* memory) {
  @autoreleasepool {
    id<MTLBuffer> const buffer = (id<MTLBuffer>)memory;
    if (![buffer respondsToSelector:@selector(gpuAddress)])
      return invalid_argument("the object is not an id<MTLBuffer>");
    TL_RETURN_IF_ERROR(check_resource(context, buffer));
    if (buffer.length % kTransferUnit != 0)
      return invalid_argument(
          "the buffer has {} bytes, and a multiple of {} is needed, since whole units are copied; "
          "help: make it longer",
          static_cast<unsigned long>(buffer.length), kTransferUnit);
    return NativeBuffer{.desc = {.bytes = buffer.length}};
  }
}

Result<TextureDesc> describe_texture(const Context& context, void* image) {
  @autoreleasepool {
    id<MTLTexture> const texture = (id<MTLTexture>)image;
    if (![texture respondsToSelector:@selector(pixelFormat)])
      return invalid_argument("the object is not an id<MTLTexture>");
    TL_RETURN_IF_ERROR(check_resource(context, texture));
    if (texture.textureType != MTLTextureType2D || texture.mipmapLevelCount != 1)
      return invalid_argument("the texture is not a 2-D image (MTLTextureType2D) of one level");
    if (texture.parentTexture != nil || texture.buffer != nil)
      return invalid_argument(
          "the texture is a view of another object, whose uses cannot be ordered with the "
          "texture's; help: wrap that object");
    if (texture.framebufferOnly)
      return invalid_argument(
          "kernels cannot use the texture, which is for rendering only; help: set framebufferOnly "
          "of its layer to NO");
    TextureDesc desc;
    TL_ASSIGN_OR_RETURN(desc.format, texel_format(texture.pixelFormat));
    desc.extent = {static_cast<std::uint32_t>(texture.width),
                   static_cast<std::uint32_t>(texture.height)};
    desc.usage = texture_usage(texture.usage);
    return desc;
  }
}

}  // namespace texloom::hal::metal
