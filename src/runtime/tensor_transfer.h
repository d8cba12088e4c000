// Blocking transfers between row-major arrays on the host and the tensors of a plan.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Allocates memory for a tensor of known size: a buffer or a texture of its own.
Result<hal::Binding> allocate(hal::Device& device, const TensorSpec& tensor);

// `array` has the elements of tensor.layout.shape. Padding is written, as zero. Waits for all
// earlier work on the queue. InvalidArgument if the array has another size, the tensor's size
// depends on the call, or the binding does not fit; otherwise the errors of hal/transfer.h.
Status write_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                    std::span<const std::byte> array);
Status read_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                   std::span<std::byte> array);

}  // namespace texloom::runtime
