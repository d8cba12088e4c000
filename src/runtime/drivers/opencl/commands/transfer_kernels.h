// Performs fills and copies with offsets and lengths that the API or the device does not support.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/drivers/opencl/kernels/program.h"
#include "runtime/drivers/opencl/memory/memory.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The driver's own kernels: one executable for all queues of a device, built at first use. If
// building fails, each transfer that needs it fails. On a CPU the kernels move vectors at any
// address. Elsewhere they write whole units of 16 bytes, and single bytes only at the ends; if the
// source is aligned differently, each unit is combined from two of the source (a funnel shift). No
// byte outside a range is written. Thread safe.
class TransferKernels {
 public:
  static Result<std::shared_ptr<TransferKernels>> create(std::shared_ptr<const Context> context);

  // A memory object, an offset in it, and the size of the whole object.
  struct MemoryOffset {
    cl_mem memory;
    std::uint64_t offset;
    std::uint64_t memory_bytes;
  };

  // Each of these functions enqueues one command; `done`, if not null, receives its event.
  Status fill(cl_command_queue queue, const OpenClBuffer& target, const FillSegment& segment,
              cl_event* done);
  Status copy(cl_command_queue queue, const MemoryOffset& source, const MemoryOffset& target,
              std::uint64_t bytes, cl_event* done);

 private:
  TransferKernels(std::shared_ptr<const Context> context, std::shared_ptr<Executable> executable)
      : context_(std::move(context)), executable_(std::move(executable)) {}
  template <typename... Arguments>
  Status enqueue(cl_command_queue queue, std::uint32_t entry_point, std::uint64_t units,
                 cl_event* done, const Arguments&... arguments);

  std::shared_ptr<const Context> context_;
  std::shared_ptr<Executable> executable_;
};

}  // namespace texloom::hal::opencl
