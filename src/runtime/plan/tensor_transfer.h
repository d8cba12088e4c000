// Transfers between row-major arrays on the host and the tensors of a plan.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/hal/queue.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Allocates memory for a tensor of known size: a buffer or a texture of its own.
Result<hal::Binding> allocate(hal::Device& device, const TensorSpec& tensor);

// The array itself as the memory of a tensor, without a copy, if the device is a processor that
// uses the host's memory as its own; nullopt if it is not, or if the tensor is no such array. The
// memory holds `owner`, which keeps the array alive.
std::optional<hal::Binding> in_place(hal::Device& device, const TensorSpec& tensor,
                                     std::span<std::byte> array, std::shared_ptr<const void> owner);

// `array` has the elements of tensor.layout.shape. Padding is written, as zero. Waits for all
// earlier work on the queue. InvalidArgument if the array has another size, the tensor's size
// depends on the call, or the binding does not fit; otherwise the errors of hal/transfer.h.
Status write_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                    std::span<const std::byte> array);
Status read_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                   std::span<std::byte> array);

// Like write_tensor() and read_tensor(), but in the order of a queue of the device, with staging
// memory of the device's workspace pool, so that later transfers allocate nothing. submit_write()
// copies the array and does not wait; read_after() waits for all earlier work on the queue.
Status submit_write(hal::Device& device, const std::shared_ptr<hal::Queue>& queue,
                    const TensorSpec& tensor, const hal::Binding& binding,
                    std::span<const std::byte> array);
Status read_after(hal::Device& device, const std::shared_ptr<hal::Queue>& queue,
                  const TensorSpec& tensor, const hal::Binding& binding,
                  std::span<std::byte> array);

}  // namespace texloom::runtime
