// Linear device memory, and mappings of it for the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/hal/device_info.h"
#include "runtime/hal/memory_statistics.h"
#include "runtime/hal/residency.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::hal {

class Mapping;

struct BufferDesc {
  std::uint64_t bytes = 0;
  BufferUsage usage = BufferUsage::All;
  MemoryKind memory = MemoryKind::Device;
  // Device::create_buffer() fills it with zeros, which needs BufferUsage::CopyTarget. A workspace
  // pool lends it only to borrowers who ask for zeros, and who leave it full of zeros.
  bool zeroed = false;
  bool operator==(const BufferDesc&) const = default;
};

// What may be done with memory that an application has made (Allocator::wrap_buffer).
struct NativeUses {
  Access kernels = Access::ReadWrite;  // by kernels
  bool readback = true;                // by the command readback()
  bool update = true;                  // by the command update()
};

// An application's buffer object, as its driver describes it.
struct NativeBuffer {
  BufferDesc desc = {};
  NativeUses uses = {};
  void* whole = nullptr;     // for a part of another object: that object
  std::uint64_t offset = 0;  // in `whole`, in bytes
};

// Linear memory of a device, made by Allocator. Unless it is imported or zeroed, its contents are
// initially undefined. The object itself is immutable (queues and mappings write its memory), so
// threads may share handles. A buffer keeps alive the parts of its device that it needs, may
// outlive the Device handle, and may be released while the device still uses it.
class Buffer : public std::enable_shared_from_this<Buffer>, public Resident {
 public:
  virtual ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const BufferDesc& desc() const { return desc_; }
  std::uint64_t bytes() const { return desc_.bytes; }
  const NativeUses& native_uses() const { return native_uses_; }  // all, unless it is wrapped
  // The device of the buffer. Two objects belong to the same device if their device_info() is the
  // same object.
  const DeviceInfo& device_info() const { return *device_info_; }

  // The bytes [offset, offset + bytes) as a separate buffer, which shares the memory and keeps it
  // alive. InvalidArgument: zero bytes, or a range beyond the end.
  Result<std::shared_ptr<Buffer>> subspan(std::uint64_t offset, std::uint64_t bytes);

  // The buffer that owns the memory: for a subspan the buffer that it is cut from, otherwise this
  // one. Drivers see only roots.
  const Buffer& root() const { return root_ == nullptr ? *this : *root_; }
  std::shared_ptr<Buffer> shared_root() { return root_ == nullptr ? shared_from_this() : root_; }
  // The offset in root() at which this buffer begins, in bytes.
  std::uint64_t base_offset() const { return base_offset_; }
  // A number that identifies the memory: no other buffer or texture of the device ever has it, even
  // after this buffer is destroyed. A subspan has the number of its root. 0 if no allocator made
  // the buffer.
  std::uint64_t id() const { return root().id_; }

  // Makes [offset, offset + bytes) visible to the host until the mapping is released.
  //   Read       contains the device's writes; the host must not write
  //   Write      is initially undefined; the host must write all of it
  //   ReadWrite  contains the device's writes; the host may write any of it
  // Does not wait for the device. The caller must first wait for work that writes the range and,
  // before mapping it for writing, for work that reads it. Unless MemoryKindInfo::persistent is
  // set, work that uses the buffer may be submitted only after the mapping is released.
  //
  // InvalidArgument: memory that cannot be mapped (MemoryKind::Device), zero bytes, a range beyond
  // the end, or an overlap with another mapping if either of the two writes.
  Result<Mapping> map(std::uint64_t offset, std::uint64_t bytes, Access access);
  Result<Mapping> map(Access access);  // the whole buffer

 protected:
  Buffer(std::shared_ptr<const DeviceInfo> device_info, const BufferDesc& desc)
      : device_info_(std::move(device_info)), desc_(desc) {}

 private:
  friend class Allocator;
  friend class Mapping;
  class Subspan;

  struct MappedRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    Access access = Access::Read;
    bool operator==(const MappedRange&) const = default;
  };

  // Implemented by drivers with mappable memory. The arguments have been checked; calls may come
  // from any thread. map_memory returns a pointer to the first byte of the range, and the other
  // three functions receive that pointer.
  virtual Result<std::byte*> map_memory(std::uint64_t offset, std::uint64_t bytes, Access access);
  virtual Status unmap_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes,
                              Access access);
  virtual Status flush_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes);
  virtual Status invalidate_memory(std::byte* memory, std::uint64_t offset, std::uint64_t bytes);

  Resident& owner() final { return root_ == nullptr ? *this : *root_; }
  Status enter_mapping(const MappedRange& range);
  void leave_mapping(const MappedRange& range);

  std::shared_ptr<const DeviceInfo> device_info_;
  BufferDesc desc_;
  NativeUses native_uses_;
  std::shared_ptr<Buffer> root_;  // null if this buffer owns its memory
  std::uint64_t base_offset_ = 0;
  std::uint64_t id_ = 0;
  std::mutex mutex_;
  std::vector<MappedRange> mapped_;  // only used in roots; guarded by mutex_
  bool fills_write_mappings_ = false;
  // Destroyed after the driver's part of the object.
  MemoryCharge charge_;
  std::function<void()> release_import_;
};

// A range of a buffer that the host can access. Keeps the buffer alive. Move-only; used by one
// thread at a time.
class Mapping {
 public:
  Mapping() = default;  // empty
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();  // releases it

  // Empty after release(). Must not be written if the access is Access::Read.
  std::span<std::byte> bytes() const { return {memory_, static_cast<std::size_t>(range_.bytes)}; }
  // The bytes as values of T; a partial value at the end is left out.
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(memory_), static_cast<std::size_t>(range_.bytes / sizeof(T))};
  }

  // Makes the host's writes to a part of the range visible to work submitted afterwards. Only
  // persistent mappings need this; release() does it for all others. InvalidArgument: beyond the
  // range, or not mapped for writing.
  Status flush(std::uint64_t offset, std::uint64_t bytes);
  // Makes the writes of completed device work to a part of the range visible to the host. Only
  // persistent mappings need this. Unflushed writes of the host to that part are lost.
  // InvalidArgument: beyond the range, or not mapped for reading.
  Status invalidate(std::uint64_t offset, std::uint64_t bytes);

  // Ends the mapping. The device has the host's writes only if this succeeds. A second call does
  // nothing.
  Status release();

 private:
  friend class Buffer;

  Mapping(std::shared_ptr<Buffer> root, std::byte* memory, const Buffer::MappedRange& range)
      : root_(std::move(root)), memory_(memory), range_(range) {}
  Status check(const char* call, std::uint64_t offset, std::uint64_t bytes, bool allowed) const;

  std::shared_ptr<Buffer> root_;
  std::byte* memory_ = nullptr;
  Buffer::MappedRange range_;  // in the root
};

}  // namespace texloom::hal
