// A queue's scratch memory for transfers in two steps.
#pragma once

#include <cstdint>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// One buffer for all two-step transfers of a queue; larger transfers are done in blocks. Because
// the queue is in order, a command that writes the buffer may be enqueued before earlier ones have
// read it. Used by one thread at a time.
class Scratch {
 public:
  explicit Scratch(std::uint64_t bytes) : bytes_(bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  // Allocated at the first call; initially undefined. After OutOfMemory the next call tries again.
  Result<cl_mem> memory(const Context& context);

 private:
  std::uint64_t bytes_;
  MemoryHandle memory_;
};

}  // namespace texloom::hal::opencl
