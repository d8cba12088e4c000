// Turns the segments of command buffers into OpenCL's enqueue calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/commands/profiling.h"
#include "runtime/drivers/opencl/commands/recorded_dispatches.h"
#include "runtime/drivers/opencl/commands/scratch.h"
#include "runtime/drivers/opencl/commands/transfer_kernels.h"
#include "runtime/drivers/opencl/kernels/kernel_arguments.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/segment.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::hal {
struct CopiedRows;
}

namespace texloom::hal::opencl {

// Commands that were submitted to a queue.
struct Enqueued {
  // The last command, or with a profile all commands. Empty if there is nothing to wait for.
  std::vector<EnqueuedCommand> commands;
  std::vector<std::unique_ptr<std::byte[]>> host_memory;  // read until the commands are complete
};

// Waits until the commands are complete, and adds their times to the profile.
Status wait_for(const Context& context, const Enqueued& enqueued, std::uint32_t track);

// Encodes into one in-order queue. Used by one thread at a time.
class Encoder {
 public:
  // `scratch` belongs to the queue.
  Encoder(const Context& context, cl_command_queue queue, TransferKernels& kernels,
          Scratch& scratch)
      : context_(context), queue_(queue), kernels_(kernels), scratch_(scratch) {}

  // Enqueues the commands in order; never waits. After an error some may have been enqueued, so
  // `enqueued` must be kept until they are complete.
  Status encode(std::span<const CommandRange> commands, Enqueued& enqueued);

 private:
  class Cursor;

  Status encode_with_event(const Cursor& first, std::size_t count, Enqueued& enqueued);
  Status encode(const Cursor& first, std::size_t count, Enqueued& enqueued, cl_event* done);
  Status encode_joined(const Cursor& first, std::size_t count, Enqueued& enqueued, cl_event* done);
  // `done`, if not null, receives the event of the last call, which completes after all earlier
  // calls.
  Status encode(const Segment& any, const CommandRange& range, cl_event* done);
  Status write(const BoundBuffer& target, std::span<const std::byte> data, cl_event* done);
  bool is_aligned(std::uint64_t offset, std::uint64_t bytes) const;
  Status encode(const DispatchSegment& segment, const CommandRange& range, cl_event* done);
  Status enqueue(cl_kernel kernel, const WorkItems& items, const EntryPoint& entry, cl_event* done);
  Status encode(const FillSegment& segment, cl_event* done);
  Status encode(const UpdateSegment& segment, cl_event* done);
  Status encode(const ReadbackSegment& segment, cl_event* done);
  Status encode(const CopyBufferSegment& segment, cl_event* done);
  Status encode(const CopyBufferToTextureSegment& segment, cl_event* done);
  Status encode(const CopyTextureToBufferSegment& segment, cl_event* done);
  Status encode(const CopyTextureSegment& segment, cl_event* done);
  Status encode(const NativeSegment& segment, std::span<const Binding> table, cl_event* done);
  Status mark(cl_event* done);

  // Some of a segment's rows or bytes.
  struct Block {
    std::uint64_t begin;
    std::uint64_t count;
  };
  // The places for the events of the first and the last call of a segment; may be null.
  struct Events {
    cl_event* first;
    cl_event* last;

    // The place for a call that is either the first or the last one, not both.
    cl_event* either() const { return first != nullptr ? first : last; }
  };
  // Encodes a segment as several calls, in blocks of at most `largest` rows or bytes.
  Status encode_blocks(std::uint64_t total, std::uint64_t largest, cl_event* done,
                       FunctionRef<Status(const Block&, const Events&)> encode_block);

  Status copy_rows(cl_mem source, cl_mem target, const CopiedRows& from, const CopiedRows& to,
                   const Events& events);

  const Context& context_;
  cl_command_queue queue_;
  TransferKernels& kernels_;
  Scratch& scratch_;
  std::optional<RecordedDispatches> recorded_;  // of the command buffer that is being encoded
  // The arguments of the latest dispatch whose kernel object belongs to the executable; the next
  // dispatch of that kind forgets them.
  KernelArguments shared_arguments_;
  cl_event first_event_ = nullptr;  // the first call of a segment with several; only with a profile
};

}  // namespace texloom::hal::opencl
