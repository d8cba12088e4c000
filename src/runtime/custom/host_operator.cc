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

  // Calls the operator with the tensors in memory of the host that it only reads, and with copies
  // of the others; copies back those that it writes.
  Status run(std::span<const hal::Binding> memory) const {
    // The device may be gone, because the queue that makes this call does not keep it open.
    const auto device = device_.lock();
    if (device == nullptr)
      return make_error(StatusCode::Unavailable, "the device was released before the call");
    const std::vector<hal::Mapping> mapped = map_read(device->info(), memory);
    std::vector<Bytes> places;
    TL_RETURN_IF_ERROR(read(*device, memory, mapped, places));
    std::vector<Bytes> arrays;
    for (std::size_t i = 0; i < places.size(); ++i) arrays.push_back(array_of(i, places[i]));
    const std::vector<Bytes> before = context_.checks_writes ? arrays : std::vector<Bytes>();
    TL_RETURN_IF_ERROR(call(mapped, arrays));
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

  // By argument: the memory of a tensor that the operator only reads, if it is an array that the
  // host can access while the device uses it; otherwise nothing.
  std::vector<hal::Mapping> map_read(const hal::DeviceInfo& device,
                                     std::span<const hal::Binding> memory) const {
    std::vector<hal::Mapping> mapped(memory.size());
    if (context_.checks_writes) return mapped;  // compares copies
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const auto* place = std::get_if<hal::BufferBinding>(&memory[i]);
      if (place == nullptr || !has_places(i) || hal::writes(argument(i).access)) continue;
      const hal::MemoryKindInfo& kind = device.memory(place->buffer->desc().memory);
      if (!kind.persistent || !kind.coherent) continue;
      // Fails if the application has mapped the memory for writing.
      auto mapping = place->buffer->map(place->offset, place_bytes(i), hal::Access::Read);
      if (mapping.ok()) mapped[i] = std::move(*mapping);
    }
    return mapped;
  }

  std::uint64_t place_bytes(std::size_t i) const {
    return static_cast<std::uint64_t>(context_.tensors[i].layout.places()) * element_bytes(i);
  }

  Status call(std::span<const hal::Mapping> mapped, std::vector<Bytes>& arrays) const {
    std::vector<HostTensor> tensors;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::span<std::byte> own = mapped[i].bytes();
      tensors.push_back({context_.tensors[i], own.empty() ? std::span(arrays[i]) : own});
    }
    const hal::NoWaits no_waits(caller_);
    return without_exceptions(
        [&] { return op_->run({tensors, context_.attributes, context_.payload}); });
  }

  // Makes copies of the tensors that are not mapped; the others' stay empty.
  Status read(hal::Device& device, std::span<const hal::Binding> memory,
              std::span<const hal::Mapping> mapped, std::vector<Bytes>& places) const {
    TensorCopies copies(device, context_.transfers);
    for (std::size_t i = 0; i < memory.size(); ++i)
      places.emplace_back(mapped[i].bytes().empty() ? static_cast<std::size_t>(place_bytes(i)) : 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!hal::reads(argument(i).access) || places[i].empty()) continue;
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
