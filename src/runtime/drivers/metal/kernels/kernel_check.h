// Checks the parameters of an entry point against the compiled kernel, so that Metal never gets an
// argument or a threadgroup that it would refuse. For Objective-C++ sources alone.
#pragma once

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/kernels/kernel_slots.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Returns the slots of the kernel's parameters. InvalidArgument, naming the kernel and the
// argument, for: an argument that only the entry point or only the kernel has; an argument of
// another kind or access, or a texture of another class of formats; constants of another size, or
// too many; more arguments than there are slots; a threadgroup that is larger than the compiled
// kernel supports; too much threadgroup memory. Unimplemented: an argument buffer on a device
// without argument buffers.
Result<KernelSlots> check_kernel(const Context& context, id<MTLComputePipelineState> pipeline,
                                 NSArray<id<MTLBinding>>* bindings, const EntryPoint& entry);

// Checks a single pipeline of a function: InvalidArgument if the threadgroup is larger than this
// pipeline supports, or takes too much threadgroup memory. A part of check_kernel().
Status check_workgroup(const Context& context, id<MTLComputePipelineState> pipeline,
                       const EntryPoint& entry);

}  // namespace texloom::hal::metal
