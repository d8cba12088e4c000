// Memory of a queue's own for what has to take a detour.
#pragma once

#include <cstdint>

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// One buffer for a queue, whatever goes through it: larger transfers go in blocks. The queue is in
// order, so that a command may write it while those before it are still to read it. Used by one
// thread at a time.
class Scratch {
 public:
  explicit Scratch(std::uint64_t bytes) : bytes_(bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  // Made when it is first asked for; undefined at first. OutOfMemory: the next call tries again.
  Result<cl_mem> memory(const Context& context);

 private:
  std::uint64_t bytes_;
  MemoryHandle memory_;
};

}  // namespace texloom::hal::opencl
