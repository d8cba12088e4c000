// Allocates and imports a device's memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/hal/buffer.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/memory_statistics.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal {

// Host memory that becomes a buffer of the kind MemoryKind::Shared, without a copy.
struct ImportDesc {
  // After the import the caller accesses the memory only through mappings, and keeps it alive until
  // `release` is called.
  std::span<std::byte> memory = {};
  BufferUsage usage = BufferUsage::All;
  // Called once, after the last use of the memory, by the thread that releases the last handle.
  // The thread may be a queue's, so the function must not wait for a queue. Not called if the
  // import fails.
  std::function<void()> release = {};
};

// Describes a texture that is a view over a buffer's bytes.
struct TextureViewDesc {
  TextureDesc texture = {};
  std::uint64_t offset = 0;     // bytes to the first texel
  std::uint64_t row_pitch = 0;  // bytes from row to row; 0 means smallest_view_pitch()
};

// The smallest row pitch, in bytes, of a view of this format and width.
std::uint64_t smallest_view_pitch(const DeviceInfo& device, TexelFormat format,
                                  std::uint32_t width);

class MemoryBudget;

// Releases unused memory when a device runs out of memory.
class PressureListener {
 public:
  virtual ~PressureListener() = default;
  // Called when there is no memory left for a request, by the requesting thread, with no lock
  // held. Returns whether memory may have been released; the request is then tried once more.
  virtual bool release_unused() = 0;
};

// Allocates the buffers and textures of one open device; made by its driver. Thread safe. Buffers
// and textures keep alive the parts of the device that they need.
//
// All buffers and textures together, without imports and views, take at most
// DeviceLimits::global_memory_bytes.
//
// All calls return InvalidArgument for sizes that are zero or misaligned and for textures larger
// than the device's; Unimplemented for features that this device lacks; and OutOfMemory for more
// than DeviceLimits::max_allocation_bytes at once, or if there is no memory even after the
// listeners have released theirs. The allocator remains usable.
class Allocator {
 public:
  virtual ~Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  const DeviceInfo& info() const { return *info_; }

  // Whether the device supports textures of this format for these uses.
  virtual bool supports(TexelFormat format, TextureUsage usage) const = 0;

  Result<std::shared_ptr<Buffer>> create_buffer(const BufferDesc& desc);
  Result<std::shared_ptr<Texture>> create_texture(const TextureDesc& desc);
  Result<std::shared_ptr<Buffer>> import(ImportDesc desc);
  // The buffer needs BufferUsage::View, and the texture keeps the buffer alive. A kernel must not
  // write the buffer while it reads the texture, or the reverse.
  Result<std::shared_ptr<Texture>> create_view(const std::shared_ptr<Buffer>& buffer,
                                               const TextureViewDesc& desc);

  // Makes a buffer or a texture of an object of the application, without a copy: a cl_mem of the
  // device's context, or an id<MTLBuffer> or id<MTLTexture> of the same id<MTLDevice>. It must be a
  // valid object, whose memory the result keeps alive. An object that is wrapped twice is the same
  // buffer or texture as long as that exists, and a sub-buffer is a subspan of the buffer of the
  // cl_mem that it was made from. Commands of the application and of the device are in order if
  // both use one queue (Queue). The memory counts as imported; it cannot be mapped.
  // InvalidArgument: null, an object of another kind, context or device, or one that kernels cannot
  // use; an image with several layers, levels or samples, or over the memory of another object.
  // Unimplemented: the driver has no such objects.
  Result<std::shared_ptr<Buffer>> wrap_buffer(void* memory);
  Result<std::shared_ptr<Texture>> wrap_texture(void* image);

  MemoryStatistics statistics() const { return counter_->statistics(); }

  // Registers a listener. When memory is short, listeners are called in the order in which they
  // were added, until the request succeeds. Destroyed listeners are skipped.
  void add_listener(std::weak_ptr<PressureListener> listener);

 protected:
  Allocator(std::shared_ptr<const DeviceInfo> info, const DeviceOptions& options);

  const std::shared_ptr<const DeviceInfo>& shared_info() const { return info_; }

 private:
  // Implemented by drivers. The arguments have been checked. wrap() and view() are called only if
  // the device has their features; the buffer of a view is a root (Buffer::root).
  virtual Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) = 0;
  virtual Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) = 0;
  virtual Result<std::shared_ptr<Buffer>> wrap(std::span<std::byte> memory, const BufferDesc& desc);
  virtual Result<std::shared_ptr<Texture>> view(const TextureBacking& backing,
                                                const TextureDesc& desc);

  virtual Result<NativeBuffer> describe_native_buffer(void* memory);
  // `memory` is no part of another object.
  virtual Result<std::shared_ptr<Buffer>> wrap_native_buffer(void* memory, const BufferDesc& desc);
  virtual Result<std::shared_ptr<Texture>> wrap_native_texture(void* image);

  template <typename Made, typename Desc>
  Result<std::shared_ptr<Made>> allocate_within_budget(const Desc& desc, std::uint64_t bytes);
  template <typename Made>
  using Wrapped = std::map<void*, std::weak_ptr<Made>>;  // by the application's object
  Status no_native(std::string_view objects) const;
  Result<std::shared_ptr<Buffer>> wrap_whole(void* memory, const NativeBuffer& native);
  template <typename Made, typename Make>
  Result<std::shared_ptr<Made>> wrap_once(Wrapped<Made>& wrapped, void* object, Make make);
  template <typename Make>
  auto retry(Make make) -> decltype(make());
  std::vector<std::weak_ptr<PressureListener>> listeners();

  std::shared_ptr<const DeviceInfo> info_;
  DeviceOptions options_;
  std::atomic<std::uint64_t> last_id_ = 0;
  std::shared_ptr<MemoryCounter> counter_ = std::make_shared<MemoryCounter>();
  std::shared_ptr<MemoryBudget> budget_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<PressureListener>> listeners_;  // under mutex_
  std::mutex wrapping_;
  Wrapped<Buffer> wrapped_buffers_;    // under wrapping_
  Wrapped<Texture> wrapped_textures_;  // under wrapping_
};

}  // namespace texloom::hal
