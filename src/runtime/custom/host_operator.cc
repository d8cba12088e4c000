#include "runtime/custom/host_operator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "runtime/custom/no_exceptions.h"
#include "runtime/custom/tensor_copies.h"
#include "runtime/hal/no_waits.h"

namespace texloom::runtime {
namespace {

using Bytes = std::vector<std::byte>;

// The state that the recorded calls of one prepared call share.
class HostCallState {
 public:
  HostCallState(PrepareContext context, std::shared_ptr<const HostOperator> op)
      : context_(std::move(context)),
        device_(std::exchange(context_.device, nullptr)),
        op_(std::move(op)),
        caller_("operator \"" + op_->info().name + "\"") {}

  // Copies to the host the tensors that the operator reads, calls the operator, and copies back the
  // tensors that it writes.
  Status run(std::span<const hal::Binding> memory) const {
    // The device may be gone, because the queue that makes this call does not keep it open.
    const auto device = device_.lock();
    if (device == nullptr)
      return make_error(StatusCode::Unavailable, "the device was released before the call");
    std::vector<Bytes> places;
    TL_RETURN_IF_ERROR(read(*device, memory, places));
    std::vector<Bytes> arrays;
    for (std::size_t i = 0; i < places.size(); ++i) arrays.push_back(array_of(i, places[i]));
    const std::vector<Bytes> before = context_.checks_writes ? arrays : std::vector<Bytes>();
    TL_RETURN_IF_ERROR(call(arrays));
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!hal::writes(argument(i).access) && arrays[i] != before[i])
        return invalid_argument("the call writes \"{}\", which the operator declares as read",
                                argument(i).name);
    }
    return write(*device, memory, arrays, places);
  }

  const std::string& caller() const { return caller_; }

 private:
  const OperatorArgument& argument(std::size_t i) const { return op_->info().arguments[i]; }
  bool has_places(std::size_t i) const {
    return op_->takes_places() || context_.tensors[i].layout.is_row_major();
  }
  std::size_t element_bytes(std::size_t i) const {
    return hal::byte_size(context_.tensors[i].element);
  }

  Status call(std::vector<Bytes>& arrays) const {
    std::vector<HostTensor> tensors;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      tensors.push_back({context_.tensors[i], arrays[i]});
    const hal::NoWaits no_waits(caller_);
    return without_exceptions(
        [&] { return op_->run({tensors, context_.attributes, context_.payload}); });
  }

  Status read(hal::Device& device, std::span<const hal::Binding> memory,
              std::vector<Bytes>& places) const {
    TensorCopies copies(device, context_.transfers);
    for (const TensorSpec& tensor : context_.tensors)
      places.emplace_back(static_cast<std::size_t>(tensor.layout.places()) *
                          hal::byte_size(tensor.element));
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!hal::reads(argument(i).access)) continue;
      if (const auto* texture = std::get_if<hal::TextureBinding>(&memory[i])) {
        TL_RETURN_IF_ERROR(copies.read(*texture, extent(i), places[i]));
      } else {
        TL_RETURN_IF_ERROR(copies.read(std::get<hal::BufferBinding>(memory[i]), places[i]));
      }
    }
    return copies.run();
  }

  Bytes array_of(std::size_t i, const Bytes& places) const {
    if (has_places(i)) return places;
    const TensorLayout& layout = context_.tensors[i].layout;
    Bytes array(static_cast<std::size_t>(layout.elements()) * element_bytes(i));
    unpack(layout, element_bytes(i), places, array);
    return array;
  }

  Status write(hal::Device& device, std::span<const hal::Binding> memory,
               const std::vector<Bytes>& arrays, std::vector<Bytes>& places) const {
    TensorCopies copies(device, context_.transfers);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!hal::writes(argument(i).access)) continue;
      if (!has_places(i)) pack(context_.tensors[i].layout, element_bytes(i), arrays[i], places[i]);
      const Bytes& written = has_places(i) ? arrays[i] : places[i];
      if (const auto* texture = std::get_if<hal::TextureBinding>(&memory[i])) {
        TL_RETURN_IF_ERROR(copies.write(*texture, extent(i), written));
      } else {
        TL_RETURN_IF_ERROR(copies.write(std::get<hal::BufferBinding>(memory[i]), written));
      }
    }
    return copies.run();
  }

  hal::Extent2D extent(std::size_t i) const {
    return std::get<TextureStorage>(context_.tensors[i].storage).extent;
  }

  PrepareContext context_;
  std::weak_ptr<hal::Device> device_;
  std::shared_ptr<const HostOperator> op_;
  std::string caller_;
};

class PreparedHostCall final : public PreparedCall {
 public:
  PreparedHostCall(PrepareContext context, std::shared_ptr<const HostOperator> op)
      : state_(std::make_shared<const HostCallState>(std::move(context), std::move(op))) {}

  Status encode(const EncodeContext& context) const override {
    return context.commands.host_call_with_table(
        context.tensors, [state = state_](const hal::HostCallMemory& memory) {
          return state->run(memory.named).with_context(state->caller());
        });
  }

 private:
  std::shared_ptr<const HostCallState> state_;
};

}  // namespace

Result<std::unique_ptr<PreparedCall>> HostOperator::prepare(PrepareContext& context) const {
  // `context.op` keeps this operator alive: it is this operator, or another one that owns this one.
  return std::unique_ptr<PreparedCall>(std::make_unique<PreparedHostCall>(
      context, std::shared_ptr<const HostOperator>(context.op, this)));
}

}  // namespace texloom::runtime
