// The function by which a block takes its ticket (ir::LastBlock).
#pragma once

#include <string>

#include "codegen/c/prelude.h"

namespace texloom::codegen::opencl {

// Adds the function to the prelude; returns its name. All threads of a block call it, with a
// counter in global memory, the number of blocks that count there, and an int that the block
// shares. It returns 1 to the threads of the last block, after it set the counter back to 0.
//
// The fence is of the device's scope: PTX on NVIDIA's GPUs, an atomic fence in OpenCL C 3.0 where
// the device has one. Elsewhere it is that of OpenCL C 1.2, which promises nothing of other blocks:
// whoever states -device_fence=1 for such a device knows that it suffices, as on processors, where
// atomic operations order all accesses.
const std::string& take_ticket(Prelude& prelude);

}  // namespace texloom::codegen::opencl
