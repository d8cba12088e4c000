#include "runtime/drivers/opencl/commands/scratch.h"

#include "runtime/drivers/opencl/memory/memory.h"

namespace texloom::hal::opencl {

Result<cl_mem> Scratch::memory(const Context& context) {
  if (!memory_) {
    Result<MemoryHandle> made = create_memory(context, bytes_);
    if (!made.ok()) return made.status().with_context("scratch memory of a queue");
    memory_ = *std::move(made);
  }
  return memory_.get();
}

}  // namespace texloom::hal::opencl
