// Memory objects for parts of a buffer (sub-buffers), which are the arguments of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "support/status.h"

namespace texloom::hal::opencl {

class BufferParts;

// A use of a part. Does not keep the buffer alive. Move-only.
class PartUse {
 public:
  PartUse() = default;
  PartUse(PartUse&& other) noexcept { *this = std::move(other); }
  PartUse& operator=(PartUse&& other) noexcept;
  ~PartUse();

  // Valid only while the buffer exists.
  cl_mem get() const { return memory_; }

 private:
  friend class BufferParts;
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // the offset and the size, in bytes

  std::weak_ptr<BufferParts> parts_;
  Range range_ = {};
  cl_mem memory_ = nullptr;
};

// The parts of one buffer, each made once for all users. OpenCL's parts keep the memory alive, so
// the buffer owns them rather than their users: kernels of a command buffer that is submitted again
// may be bound to memory that the caller has released. Thread safe.
//
// Parts are released in the reverse order of their creation: NVIDIA's driver (580.159) crashes if
// kernels have used parts that overlap, and the one made first is released first.
class BufferParts : public std::enable_shared_from_this<BufferParts> {
 public:
  // `buffer` is the object of the whole buffer.
  Result<PartUse> use(const Context& context, cl_mem buffer, std::uint64_t offset,
                      std::uint64_t bytes);
  // Releases all parts. Called when the buffer is destroyed.
  void clear();

 private:
  friend class PartUse;
  struct Part {
    PartUse::Range range;
    MemoryHandle memory;
    std::size_t uses = 0;
  };
  void end_use(const PartUse::Range& range);
  void release_last();

  // Unused parts are kept for later users, because creating one takes time.
  static constexpr std::size_t kMostUnused = 4096;

  std::mutex mutex_;                              // guards the members below
  std::vector<Part> parts_;                       // in the order of their creation
  std::map<PartUse::Range, std::size_t> places_;  // indices in parts_
  std::size_t unused_ = 0;
};

}  // namespace texloom::hal::opencl
