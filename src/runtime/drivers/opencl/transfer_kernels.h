// Fills, copies and writes at offsets and of lengths that the API or the device does not take.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "runtime/drivers/opencl/memory.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Kernels of the driver's own, built when they are first needed. They write whole units
// (words on a CPU, 16 bytes elsewhere), made of two of the source where that lies otherwise (a
// funnel shift), and single bytes only at the ends; no byte outside a range is written. Used by one
// thread at a time.
class TransferKernels {
 public:
  // All enqueue without waiting; `done`, when not null, receives the event of the last command.
  Status fill(const Context& context, cl_command_queue queue, const OpenClBuffer& target,
              const FillSegment& segment, cl_event* done);
  Status copy(const Context& context, cl_command_queue queue, const OpenClBuffer& source,
              const OpenClBuffer& target, const CopyBufferSegment& segment, cl_event* done);
  // Copies `data`, which is not needed behind the call.
  Status write(const Context& context, cl_command_queue queue, const OpenClBuffer& target,
               std::uint64_t offset, std::span<const std::byte> data, cl_event* done);

 private:
  Status build(const Context& context);
  Status copy_bytes(const Context& context, cl_command_queue queue, cl_mem source,
                    std::uint64_t source_bytes, std::uint64_t source_offset, cl_mem target,
                    std::uint64_t target_offset, std::uint64_t bytes, cl_event* done);

  ProgramHandle program_;
  KernelHandle fill_, copy_;  // null before build()
};

}  // namespace texloom::hal::opencl
