#include "runtime/drivers/opencl/commands/recorded_dispatches.h"

#include <utility>

#include "runtime/drivers/opencl/kernels/program.h"

namespace texloom::hal::opencl {

WorkItems::WorkItems(const DispatchSegment& segment) {
  const EntryPoint& entry = segment.call.entry();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    of_group[axis] = entry.workgroup_size[axis];
    all[axis] = of_group[axis] * segment.groups[axis];
  }
}

Status RecordedDispatch::bind(const Context& context, const DispatchSegment& segment,
                              const CommandRange& range) {
  const KernelCall& call = segment.call;
  is_bound_ = false;
  AddressedParams addressed = addressed_params(context, call, range.table());
  if (!kernel_ || addressed != addressed_) {
    TL_RETURN_IF_ERROR(call.executable->prepare());
    TL_ASSIGN_OR_RETURN(kernel_, as_opencl(*call.executable).make_kernel(call.entry_point));
    arguments_.forget();
    addressed_ = std::move(addressed);
    items_ = WorkItems(segment);
    has_slots_ = call.has_slots;
  }
  TL_RETURN_IF_ERROR(arguments_.set(context, call, range.table(), kernel_.get()));
  table_number_ = has_slots_ ? range.table_number() : 0;
  is_bound_ = true;
  return {};
}

RecordedDispatches::RecordedDispatches(const CommandBuffer& commands) : commands_(commands) {
  if (!commands.desc().reusable || commands.call_count() == 0) return;
  // The cast is valid: only this driver encodes command buffers of its devices.
  encoded_.reset(static_cast<Encoded*>(commands.take_encoded().release()));
  if (encoded_ != nullptr) return;
  encoded_ = std::make_unique<Encoded>();
  encoded_->dispatches.resize(commands.call_count());
}

RecordedDispatches::~RecordedDispatches() {
  if (encoded_ != nullptr) commands_.keep_encoded(std::move(encoded_));
}

}  // namespace texloom::hal::opencl
