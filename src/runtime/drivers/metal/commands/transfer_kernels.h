// Performs fills and copies that blit encoders refuse, or that need not leave a compute encoder.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/drivers/metal/commands/passes.h"
#include "runtime/drivers/metal/kernels/program.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Memory and an offset in it, in bytes.
struct MemoryOffset {
  MetalMemory* memory = nullptr;
  std::uint64_t offset = 0;
};

// Rows to copy. In the source and in the target, each row begins `pitch` bytes after the previous
// one.
struct RowCopy {
  MemoryOffset source, target;
  std::uint64_t source_pitch = 0, target_pitch = 0;
  std::uint64_t row_bytes = 0;
  std::uint32_t rows = 1;
};

// The driver's own kernels: one executable for all queues of a device, built at first use. If
// building fails, each transfer that needs it fails. Threads write whole units of 16 bytes, and
// single bytes only at the ends of rows. Threads read words as large as the alignment of the source
// relative to the target allows. No byte outside of the ranges is read or written. Thread safe.
class TransferKernels {
 public:
  static Result<std::shared_ptr<TransferKernels>> create(std::shared_ptr<const Context> context);

  // Each of these functions encodes one dispatch.
  Status fill(Passes& passes, MetalMemory* target, const FillSegment& segment);
  Status copy(Passes& passes, const RowCopy& copy);

 private:
  explicit TransferKernels(std::shared_ptr<Executable> executable)
      : executable_(std::move(executable)) {}
  void dispatch(Passes& passes, MetalCompute* encoder, std::uint32_t entry_point,
                std::uint64_t bytes, std::uint32_t rows);

  std::shared_ptr<Executable> executable_;
};

}  // namespace texloom::hal::metal
