// Buffers and textures of the Metal driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/memory/map_queue.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal::metal {

// The length of Metal's buffers is a multiple of this unit, so that whole units around any range
// can be copied.
inline constexpr std::uint64_t kTransferUnit = 16;

// Allocates memory, initially undefined, of at least `bytes` bytes.
Result<Handle<MetalMemory>> create_memory(const Context& context, std::uint64_t bytes,
                                          MemoryKind kind);

class MetalBuffer final : public Buffer {
 public:
  // `desc` has passed check_creation(). `imported` is host memory that becomes the buffer, or null.
  static Result<std::shared_ptr<Buffer>> create(std::shared_ptr<const Context> context,
                                                std::shared_ptr<MapQueue> map_queue,
                                                const BufferDesc& desc, std::byte* imported);

  // `memory` is the application's id<MTLBuffer>.
  static Result<NativeBuffer> describe(const Context& context, void* memory);
  static Result<std::shared_ptr<Buffer>> wrap(std::shared_ptr<const Context> context,
                                              std::shared_ptr<MapQueue> map_queue, void* memory,
                                              const BufferDesc& desc);

  MetalMemory* get() const { return memory_.get(); }

  // Whether textures are or were views over the buffer, so that kernels reach it by several
  // resources.
  bool has_views() const { return has_views_; }
  void add_view() const { has_views_ = true; }

 private:
  MetalBuffer(std::shared_ptr<const Context> context, std::shared_ptr<MapQueue> map_queue,
              const BufferDesc& desc, Handle<MetalMemory> memory, SetMember member);

  Result<std::byte*> map_memory(std::uint64_t offset, std::uint64_t bytes, Access access) override;
  Status unmap_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes,
                      Access access) override;
  Status flush_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes) override;
  Status invalidate_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes) override;

  std::shared_ptr<const Context> context_;
  std::shared_ptr<MapQueue> map_queue_;
  Handle<MetalMemory> memory_;
  SetMember set_member_;  // for memory that the buffer owns; destroyed before it
  mutable std::atomic<bool> has_views_ = false;
};

class MetalTexture final : public Texture {
 public:
  // `desc` has passed check_creation() and its format is supported.
  static Result<std::shared_ptr<Texture>> create(std::shared_ptr<const Context> context,
                                                 const TextureDesc& desc);
  // `backing` and `desc` have passed check_view.
  static Result<std::shared_ptr<Texture>> create_view(std::shared_ptr<const Context> context,
                                                      const TextureBacking& backing,
                                                      const TextureDesc& desc);

  // `image` is the application's id<MTLTexture>.
  static Result<std::shared_ptr<Texture>> wrap(std::shared_ptr<const Context> context, void* image);

  MetalImage* get() const { return image_.get(); }

 private:
  MetalTexture(std::shared_ptr<const Context> context, const TextureDesc& desc,
               Handle<MetalImage> image, SetMember member);

  std::shared_ptr<const Context> context_;
  Handle<MetalImage> image_;
  SetMember set_member_;  // for memory that the texture owns; destroyed before it
};

// Casts an object named by a command buffer, which accepts only objects of its own driver.
inline const MetalBuffer& as_metal(const Buffer& buffer) {
  return static_cast<const MetalBuffer&>(buffer);
}
inline const MetalTexture& as_metal(const Texture& texture) {
  return static_cast<const MetalTexture&>(texture);
}

}  // namespace texloom::hal::metal
