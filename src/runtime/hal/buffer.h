// A linear piece of memory, and a view of it for the host.
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
  bool operator==(const BufferDesc&) const = default;
};

// Made by Allocator; its contents are undefined at first, unless it is imported. Immutable as an
// object (its memory is written by queues and through mappings), so handles may be shared between
// threads. It keeps what it needs of its device, may outlive the Device handle, and may be released
// while the device still uses it.
class Buffer : public std::enable_shared_from_this<Buffer>, public Resident {
 public:
  virtual ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const BufferDesc& desc() const { return desc_; }
  std::uint64_t bytes() const { return desc_.bytes; }
  // The device it belongs to; two objects belong together when this is one and the same object.
  const DeviceInfo& device_info() const { return *device_info_; }

  // The bytes [offset, offset + bytes) as a buffer of their own, which shares and keeps the memory.
  // InvalidArgument: no bytes, or some beyond the end.
  Result<std::shared_ptr<Buffer>> subspan(std::uint64_t offset, std::uint64_t bytes);

  // The buffer that has the memory: of a subspan the one that it is cut from, else this. Drivers
  // see roots alone.
  const Buffer& root() const { return root_ == nullptr ? *this : *root_; }
  std::shared_ptr<Buffer> shared_root() { return root_ == nullptr ? shared_from_this() : root_; }
  // Bytes; where this begins in root().
  std::uint64_t base_offset() const { return base_offset_; }

  // Makes [offset, offset + bytes) visible to the host until the mapping is released.
  //   Read       holds what the device wrote; the host may not write
  //   Write      is undefined at first, and the host writes all of it
  //   ReadWrite  holds what the device wrote; the host may write any of it
  // It does not wait for the device's work: the caller has waited for what wrote the range, and for
  // what reads it if it is mapped for writing. Unless MemoryKindInfo::persistent says so, work that
  // uses the buffer may be submitted only after the mapping is released.
  //
  // InvalidArgument: memory that cannot be mapped (MemoryKind::Device), no bytes, some beyond the
  // end, some that are mapped already while one of the two writes.
  Result<Mapping> map(std::uint64_t offset, std::uint64_t bytes, Access access);
  Result<Mapping> map(Access access);  // all of it

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

  // For drivers with mappable memory; the arguments are checked, and the calls come from any
  // thread. The pointer is to the first byte of the range, and goes to the other three.
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
  std::shared_ptr<Buffer> root_;  // null for what has memory of its own
  std::uint64_t base_offset_ = 0;
  std::mutex mutex_;
  std::vector<MappedRange> mapped_;  // of a root; under mutex_
  bool fills_write_mappings_ = false;
  // The driver's part of an object is destroyed before these are.
  MemoryCharge charge_;
  std::function<void()> release_import_;
};

// Host memory that stands for a range of a buffer, which it keeps. Move only; for one thread at a
// time.
class Mapping {
 public:
  Mapping() = default;  // of nothing
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();  // releases it

  // Empty after release(). Not to be written where the access is Access::Read.
  std::span<std::byte> bytes() const { return {memory_, static_cast<std::size_t>(range_.bytes)}; }
  // The same as values of T, as far as whole ones go.
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(memory_), static_cast<std::size_t>(range_.bytes / sizeof(T))};
  }

  // Makes what the host wrote to a part of the range visible to work that is submitted afterwards;
  // for persistent mappings (release() does it for all others). InvalidArgument: beyond the range,
  // or not mapped for writing.
  Status flush(std::uint64_t offset, std::uint64_t bytes);
  // Makes what complete work of the device wrote to a part of the range visible to the host; for
  // persistent mappings. Data that the host wrote there and did not flush is lost. InvalidArgument:
  // beyond the range, or not mapped for reading.
  Status invalidate(std::uint64_t offset, std::uint64_t bytes);

  // Ends the mapping, and says what went wrong with it: the device has what the host wrote only
  // when this is ok. Does nothing the second time.
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
