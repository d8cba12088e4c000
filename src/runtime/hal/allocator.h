// Where a device's memory comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/hal/buffer.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/memory_statistics.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal {

// Host memory that becomes a buffer of the kind MemoryKind::Shared, without a copy.
struct ImportDesc {
  // After the import the caller accesses it only through mappings, and keeps it until `release` is
  // called.
  std::span<std::byte> memory = {};
  BufferUsage usage = BufferUsage::All;
  // Called once, after the last use of the memory, by the thread that releases the last handle.
  // This may be a thread of a queue, so the function must not wait for one. Not called if the
  // import fails.
  std::function<void()> release = {};
};

// A texture whose texels are bytes of a buffer.
struct TextureViewDesc {
  TextureDesc texture = {};
  std::uint64_t offset = 0;     // bytes; of the first texel
  std::uint64_t row_pitch = 0;  // bytes from row to row; 0 stands for smallest_view_pitch()
};

// The smallest distance of rows, in bytes, that views of this format and width can have.
std::uint64_t smallest_view_pitch(const DeviceInfo& device, TexelFormat format,
                                  std::uint32_t width);

// Holds memory that it can release when the driver has none left.
class PressureListener {
 public:
  virtual ~PressureListener() = default;
  // The driver has no memory left for a request. Returns whether some may have been released: the
  // request is then tried once more. Called without a lock, by the thread that makes the request.
  virtual bool release_unused() = 0;
};

// Made by a driver, one for each open device. Thread safe. Objects keep what they need of it.
//
// All calls: InvalidArgument for sizes that are zero, over the limits or not aligned as the limits
// say. Unimplemented for what this device cannot do. OutOfMemory if the driver says so even after
// the listeners have released what they can; the allocator remains usable.
class Allocator {
 public:
  virtual ~Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  const DeviceInfo& info() const { return *info_; }

  // Whether a texture of this format can be made for these uses.
  virtual bool supports(TexelFormat format, TextureUsage usage) const = 0;

  Result<std::shared_ptr<Buffer>> create_buffer(const BufferDesc& desc);
  Result<std::shared_ptr<Texture>> create_texture(const TextureDesc& desc);
  Result<std::shared_ptr<Buffer>> import(ImportDesc desc);
  // The buffer, which the texture keeps alive, has BufferUsage::View. A kernel may not write the
  // one while it reads the other.
  Result<std::shared_ptr<Texture>> create_view(const std::shared_ptr<Buffer>& buffer,
                                               const TextureViewDesc& desc);

  MemoryStatistics statistics() const { return counter_->statistics(); }

  // Called when memory is short, in the order of this call, until the request succeeds; skipped
  // once destroyed.
  void add_listener(std::weak_ptr<PressureListener> listener);

 protected:
  Allocator(std::shared_ptr<const DeviceInfo> info, const DeviceOptions& options)
      : info_(std::move(info)), options_(options) {}

  const std::shared_ptr<const DeviceInfo>& shared_info() const { return info_; }

 private:
  // For drivers. The arguments have been checked. wrap() and view() are only called with the
  // features for them, and the buffer of a view is a root.
  virtual Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) = 0;
  virtual Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) = 0;
  virtual Result<std::shared_ptr<Buffer>> wrap(std::span<std::byte> memory, const BufferDesc& desc);
  virtual Result<std::shared_ptr<Texture>> view(const TextureBacking& backing,
                                                const TextureDesc& desc);

  template <typename Make>
  auto retry(Make make) -> decltype(make());
  std::vector<std::weak_ptr<PressureListener>> listeners();

  std::shared_ptr<const DeviceInfo> info_;
  DeviceOptions options_;
  std::shared_ptr<MemoryCounter> counter_ = std::make_shared<MemoryCounter>();
  std::mutex mutex_;
  std::vector<std::weak_ptr<PressureListener>> listeners_;  // under mutex_
};

}  // namespace texloom::hal
