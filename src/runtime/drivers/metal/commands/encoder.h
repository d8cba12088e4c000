// Turns the segments of command buffers into the commands of Metal's encoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/commands/passes.h"
#include "runtime/drivers/metal/commands/references.h"
#include "runtime/drivers/metal/commands/staging.h"
#include "runtime/drivers/metal/commands/transfer_kernels.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/internal/recording/copied_rows.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/segment.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::hal::metal {

class IndirectRun;

// Staging memory from which the host's memory is filled when the batch is complete.
struct StagedReadback {
  const std::byte* from = nullptr;
  std::span<std::byte> to;
};

// Objects that a batch keeps until it is complete.
struct KeptObjects {
  explicit KeptObjects(Staging& from) : staging(from) {}

  StagingRanges staging;
  std::vector<StagedReadback> readbacks;
  std::vector<std::shared_ptr<const IndirectRun>> runs;
};

// Encodes for one queue. Used by one thread at a time, inside an autorelease pool.
class Encoder {
 public:
  // The queue or its device owns all four arguments.
  Encoder(const Context& context, MetalQueue* queue, TransferKernels& kernels, Passes& passes)
      : context_(context), queue_(queue), kernels_(kernels), passes_(passes) {}

  // Encodes segments into the command buffer of the passes.
  Status encode(const CommandRange& range, SegmentList::Iterator begin, SegmentList::Iterator end,
                KeptObjects& kept);

 private:
  class Leases;
  struct Block;

  Status encode(const Segment& any, const CommandRange& range);
  Result<MetalCompute*> encode_call(const KernelCall& call, const CommandRange& range);
  void set_by_address(const KernelCall& call, std::span<const Binding> table);
  void set_by_slot(const KernelCall& call, std::span<const Binding> table);
  Status encode(const DispatchSegment& segment, const CommandRange& range);
  Status encode(const IndirectDispatchSegment& segment, const CommandRange& range);
  Status encode(const FillSegment& segment, const CommandRange& range);
  Status encode(const UpdateSegment& segment, const CommandRange& range);
  Status encode(const ReadbackSegment& segment, const CommandRange& range);
  Status encode(const CopyBufferSegment& segment, const CommandRange& range);
  Status encode(const CopyBufferToTextureSegment& segment, const CommandRange& range);
  Status encode(const CopyTextureToBufferSegment& segment, const CommandRange& range);
  Status encode(const CopyTextureSegment& segment, const CommandRange& range);
  Status encode(const NativeSegment& segment, const CommandRange& range);
  Status encode_updates(SegmentList::Iterator begin, SegmentList::Iterator end);
  Status copy(const MemoryOffset& source, const MemoryOffset& target, std::uint64_t bytes);
  // Copies rows that blits refuse, in blocks through staging memory.
  Status copy_in_blocks(const CopiedRows& all, FunctionRef<Status(const Block&)> copy_block);
  Status copy_rows(MetalMemory* source, const CopiedRows& from, MetalMemory* target,
                   const CopiedRows& to);
  bool prefers_kernel(std::uint64_t bytes) const;

  const Context& context_;
  MetalQueue* queue_;
  TransferKernels& kernels_;
  Passes& passes_;
  KeptObjects* kept_ = nullptr;        // where the running call keeps objects
  std::vector<Reference> references_;  // reused for each kernel, to keep its capacity
};

}  // namespace texloom::hal::metal
