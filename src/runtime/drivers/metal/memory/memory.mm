#include "runtime/drivers/metal/memory/memory.h"

#include "runtime/drivers/metal/api/native.h"
#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/memory/native_memory.h"
#include "runtime/drivers/metal/platform/pixel_format.h"
#include "support/byte_text.h"

namespace texloom::hal::metal {
namespace {

MTLResourceOptions storage_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Device:
      return MTLResourceStorageModePrivate;
    case MemoryKind::Shared:
      return MTLResourceStorageModeShared;
    case MemoryKind::Managed:
#if !TARGET_OS_IPHONE
      return MTLResourceStorageModeManaged;
#endif
      break;  // iOS has no managed memory
  }
  return MTLResourceStorageModeShared;
}

// Metal tracks nothing: command buffers have barriers and the encoders of a queue have a fence
// wherever a command depends on another one, and semaphores order queues.
MTLResourceOptions options_of(MemoryKind kind) {
  return storage_of(kind) | MTLResourceHazardTrackingModeUntracked;
}

Status no_memory(std::uint64_t bytes) {
  return make_error(StatusCode::OutOfMemory, "newBufferWithLength: no memory for {}",
                    byte_text(bytes));
}

// Keeps memory resident. Memory in a heap needs no SetMember, because heaps are resident as a
// whole.
SetMember keep(const Context& context, id<MTLResource> made) {
  return made.heap == nil ? context.residency_set().keep(made) : SetMember();
}

}  // namespace

Result<Handle<MetalMemory>> create_memory(const Context& context, std::uint64_t bytes,
                                          MemoryKind kind) {
  if (bytes > kNoLimit64 - kTransferUnit) return no_memory(bytes);
  const std::uint64_t length = (bytes + kTransferUnit - 1) / kTransferUnit * kTransferUnit;
  Handle<MetalMemory> memory;
  if (kind == MemoryKind::Device) {
    memory = context.heaps().take<MetalMemory>(length, [&](MetalHeap* heap) {
      return adopt<MetalMemory>([objc(heap) newBufferWithLength:length options:options_of(kind)]);
    });
  }
  if (!memory) {
    memory = adopt<MetalMemory>([objc(context.device()) newBufferWithLength:length
                                                                    options:options_of(kind)]);
  }
  if (!memory) return no_memory(bytes);
  return memory;
}

MetalBuffer::MetalBuffer(std::shared_ptr<const Context> context,
                         std::shared_ptr<MapQueue> map_queue, const BufferDesc& desc,
                         Handle<MetalMemory> memory, SetMember member)
    : Buffer(context->info(), desc),
      context_(std::move(context)),
      map_queue_(std::move(map_queue)),
      memory_(std::move(memory)),
      set_member_(std::move(member)) {}

Result<std::shared_ptr<Buffer>> MetalBuffer::create(std::shared_ptr<const Context> context,
                                                    std::shared_ptr<MapQueue> map_queue,
                                                    const BufferDesc& desc, std::byte* imported) {
  @autoreleasepool {
    Handle<MetalMemory> memory;
    if (imported != nullptr) {
      memory = adopt<MetalMemory>([objc(context->device())
          newBufferWithBytesNoCopy:imported
                            length:desc.bytes
                           options:options_of(MemoryKind::Shared)
                       deallocator:nullptr]);
      if (!memory)
        return make_error(StatusCode::OutOfMemory, "newBufferWithBytesNoCopy: cannot import {}",
                          byte_text(desc.bytes));
    } else {
      TL_ASSIGN_OR_RETURN(memory, create_memory(*context, desc.bytes, desc.memory));
    }
    // Imported pages belong to the host, so no residency set keeps them.
    SetMember member = imported == nullptr ? keep(*context, objc(memory)) : SetMember();
    return std::shared_ptr<Buffer>(new MetalBuffer(std::move(context), std::move(map_queue), desc,
                                                   std::move(memory), std::move(member)));
  }
}

Result<NativeBuffer> MetalBuffer::describe(const Context& context, void* memory) {
  return describe_buffer(context, memory);
}

// The application keeps its memory resident, as it likes.
Result<std::shared_ptr<Buffer>> MetalBuffer::wrap(std::shared_ptr<const Context> context,
                                                  std::shared_ptr<MapQueue> map_queue, void* memory,
                                                  const BufferDesc& desc) {
  return std::shared_ptr<Buffer>(
      new MetalBuffer(std::move(context), std::move(map_queue), desc,
                      Handle<MetalMemory>::share(static_cast<MetalMemory*>(memory)), SetMember()));
}

Result<std::byte*> MetalBuffer::map_memory(std::uint64_t offset, std::uint64_t bytes,
                                           Access access) {
  @autoreleasepool {
    std::byte* memory = static_cast<std::byte*>(objc(get()).contents) + offset;
    if (reads(access)) TL_RETURN_IF_ERROR(invalidate_memory(memory, offset, bytes));
    return memory;
  }
}

Status MetalBuffer::unmap_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes,
                                 Access access) {
  return writes(access) ? flush_memory(memory, offset, bytes) : Status();
}

// iOS has no managed memory.
Status MetalBuffer::flush_memory(std::byte*, [[maybe_unused]] std::uint64_t offset,
                                 [[maybe_unused]] std::uint64_t bytes) {
#if !TARGET_OS_IPHONE
  if (desc().memory == MemoryKind::Managed) {
    @autoreleasepool {
      [objc(get()) didModifyRange:NSMakeRange(offset, bytes)];
    }
  }
#endif
  return {};
}

// Metal synchronizes whole buffers, which would lose the host's writes in another mapping. So only
// a mapping of the whole buffer uses it, and only without another mapping for writing.
Status MetalBuffer::invalidate_memory(std::byte* memory, std::uint64_t offset,
                                      std::uint64_t bytes) {
  if (desc().memory != MemoryKind::Managed) return {};
  if (bytes == this->bytes()) return map_queue_->synchronize(get());
  return map_queue_->read(get(), offset, bytes, memory);
}

MetalTexture::MetalTexture(std::shared_ptr<const Context> context, const TextureDesc& desc,
                           Handle<MetalImage> image, SetMember member)
    : Texture(context->info(), desc),
      context_(std::move(context)),
      image_(std::move(image)),
      set_member_(std::move(member)) {}

namespace {

MTLTextureDescriptor* descriptor_of(const TextureDesc& desc) {
  MTLTextureDescriptor* descriptor =
      [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:pixel_format(desc.format)
                                                         width:desc.extent.width
                                                        height:desc.extent.height
                                                     mipmapped:NO];
  // A texture that no kernel uses is created for reading: usage 0 would stand for all uses.
  MTLTextureUsage usage = MTLTextureUsageShaderRead;
  if (allows(desc.usage, TextureUsage::Storage)) usage |= MTLTextureUsageShaderWrite;
  if (!allows(desc.usage, TextureUsage::Sampled) && allows(desc.usage, TextureUsage::Storage))
    usage = MTLTextureUsageShaderWrite;
  descriptor.usage = usage;
  // Includes the storage mode. The texture of a view must have the storage mode of its buffer.
  descriptor.resourceOptions = options_of(desc.memory);
  return descriptor;
}

Result<Handle<MetalImage>> check_made(Handle<MetalImage> image, const TextureDesc& desc) {
  if (image) return image;
  return make_error(StatusCode::OutOfMemory,
                    "newTextureWithDescriptor: no memory for a texture {} of {}",
                    to_string(desc.format), to_string(desc.extent));
}

}  // namespace

Result<std::shared_ptr<Texture>> MetalTexture::create(std::shared_ptr<const Context> context,
                                                      const TextureDesc& desc) {
  @autoreleasepool {
    MTLTextureDescriptor* const descriptor = descriptor_of(desc);
    const auto device = objc(context->device());
    const MTLSizeAndAlign needed = [device heapTextureSizeAndAlignWithDescriptor:descriptor];
    Handle<MetalImage> made = context->heaps().take<MetalImage>(needed.size, [&](MetalHeap* heap) {
      return adopt<MetalImage>([objc(heap) newTextureWithDescriptor:descriptor]);
    });
    if (!made) made = adopt<MetalImage>([device newTextureWithDescriptor:descriptor]);
    TL_ASSIGN_OR_RETURN(Handle<MetalImage> image, check_made(std::move(made), desc));
    SetMember member = keep(*context, objc(image));
    return std::shared_ptr<Texture>(
        new MetalTexture(std::move(context), desc, std::move(image), std::move(member)));
  }
}

Result<std::shared_ptr<Texture>> MetalTexture::wrap(std::shared_ptr<const Context> context,
                                                    void* image) {
  TL_ASSIGN_OR_RETURN(const TextureDesc desc, describe_texture(*context, image));
  return std::shared_ptr<Texture>(
      new MetalTexture(std::move(context), desc,
                       Handle<MetalImage>::share(static_cast<MetalImage*>(image)), SetMember()));
}

// Metal's texture retains its buffer.
Result<std::shared_ptr<Texture>> MetalTexture::create_view(std::shared_ptr<const Context> context,
                                                           const TextureBacking& backing,
                                                           const TextureDesc& desc) {
  const MetalBuffer& buffer = as_metal(*backing.buffer);
  buffer.add_view();
  @autoreleasepool {
    TL_ASSIGN_OR_RETURN(Handle<MetalImage> image,
                        check_made(adopt<MetalImage>([objc(buffer.get())
                                       newTextureWithDescriptor:descriptor_of(desc)
                                                         offset:backing.offset
                                                    bytesPerRow:backing.row_pitch]),
                                   desc));
    return std::shared_ptr<Texture>(
        new MetalTexture(std::move(context), desc, std::move(image), SetMember()));
  }
}

void* native_memory(const BoundBuffer& place) { return as_metal(*place.buffer).get(); }
void* native_memory(const BoundTexture& place) { return as_metal(*place.texture).get(); }

}  // namespace texloom::hal::metal
