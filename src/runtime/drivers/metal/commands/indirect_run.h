// Records dispatches of a reusable command buffer once, as an indirect command buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/commands/passes.h"
#include "runtime/drivers/metal/commands/references.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/segment.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Consecutive dispatches of recordable, built kernels, and the barriers between them. The first and
// the last segment are dispatches.
struct DispatchRun {
  SegmentList::Iterator begin, end;
  std::uint32_t dispatches = 0;
};

// The offsets of a dispatch's addresses and constants in the memory for arguments.
struct ArgumentPlaces {
  std::uint64_t addresses = 0, constants = 0;
};

// A run as an indirect command buffer of Metal, which the device executes by one call. Bindings of
// its kernels are in argument buffers, so that the commands never change. The run does not retain
// the pipelines and the bound resources, because the command buffer and the submission do. Used by
// one thread at a time, inside an autorelease pool.
class IndirectRun {
 public:
  // Null if Metal has no memory for it.
  static std::shared_ptr<IndirectRun> record(const Context& context, const DispatchRun& run);

  // Whether the argument buffers hold the arguments of this submission.
  bool is_bound(const CommandRange& range) const;
  // Writes the argument buffers. No batch may be using the run.
  void bind(const DispatchRun& run, const CommandRange& range);

  // Executes the commands after all commands that precede the last barrier. The run must be kept
  // until the batch is complete.
  Status encode(Passes& passes) const;

 private:
  IndirectRun() = default;

  Handle<MetalIndirect> commands_;
  std::vector<ArgumentPlaces> places_;     // by dispatch
  Handle<MetalMemory> arguments_;          // of all kernels
  std::vector<MetalPipeline*> pipelines_;  // without duplicates; to be set before execution
  ResourceUses used_;                      // resources that the argument buffers name
  bool has_barriers_ = false;
  bool has_slots_ = false;
  bool is_bound_ = false;
  std::uint64_t table_number_ = 0;
};

}  // namespace texloom::hal::metal
