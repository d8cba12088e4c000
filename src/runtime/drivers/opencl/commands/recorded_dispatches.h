// The kernel objects of a reusable command buffer, one for each dispatch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/kernels/kernel_arguments.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The numbers of work items of a dispatch along three axes, and of each of its groups.
struct WorkItems {
  std::array<std::size_t, 3> all = {};
  std::array<std::size_t, 3> of_group = {};

  WorkItems() = default;
  explicit WorkItems(const DispatchSegment& segment);
};

// A dispatch with a kernel object of its own, whose arguments therefore remain from one submission
// to the next. Used by one thread at a time.
class RecordedDispatch {
 public:
  // Whether the kernel has the arguments for this submission.
  bool is_bound(const CommandRange& range) const {
    return is_bound_ && table_number_ == (has_slots_ ? range.table_number() : 0);
  }
  // Makes the kernel at the first call, and sets the arguments that it does not have.
  Status bind(const Context& context, const DispatchSegment& segment, const CommandRange& range);

  cl_kernel kernel() const { return kernel_.get(); }
  const WorkItems& items() const { return items_; }

 private:
  // Outlives the kernel object on which the arguments are set.
  KernelArguments arguments_;
  KernelHandle kernel_;
  AddressedParams addressed_;  // the parameters of kernel_ that get addresses
  WorkItems items_;
  std::uint64_t table_number_ = 0;
  bool has_slots_ = false;
  bool is_bound_ = false;
};

// Takes the dispatches of a command buffer for one encoding, and gives them back at the end.
// Encodings that run at the same time get different kernel objects, so that no encoding sets the
// arguments of another one. A command buffer that can be submitted only once has no recorded
// dispatches.
class RecordedDispatches {
 public:
  explicit RecordedDispatches(const CommandBuffer& commands);
  ~RecordedDispatches();
  RecordedDispatches(const RecordedDispatches&) = delete;
  RecordedDispatches& operator=(const RecordedDispatches&) = delete;

  const CommandBuffer& commands() const { return commands_; }
  // Null if the command buffer has no recorded dispatches.
  RecordedDispatch* find(const KernelCall& call) {
    return encoded_ == nullptr ? nullptr : &encoded_->dispatches[call.number];
  }

 private:
  struct Encoded final : EncodedCommands {
    std::vector<RecordedDispatch> dispatches;  // by KernelCall::number
  };

  const CommandBuffer& commands_;
  std::unique_ptr<Encoded> encoded_;
};

}  // namespace texloom::hal::opencl
