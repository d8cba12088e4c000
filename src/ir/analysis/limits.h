// Compares what a kernel needs with what a target has.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::ir {

enum class Limit : uint8_t {
  BlockThreads,    // threads of a block
  BlockDepth,      // threads along threadIdx.z
  SharedBytes,     // a block's arrays
  PrivateBytes,    // a thread's arrays
  ImageReads,      // textures among the parameters that are read
  ImageWrites,     // textures among the parameters that are written
  Textures,        // textures among the parameters, where the target counts slots
  Buffers,         // buffers among the parameters and one for constants, where slots are counted
  ImageSize,       // texels along an axis of a texture
  ParameterBytes,  // bytes of all parameters together
};

// The unit of a limit: "threads in a block", "bytes of shared memory", ...
std::string_view to_string(Limit limit);

struct Excess {
  Limit limit;
  int64_t need = 0, have = 0;
  Buffer buffer;  // the largest buffer involved; null for threads and parameters
};

// Whether the kernel takes its buffers and textures in an argument buffer: the target has argument
// buffers, and too few slots for this kernel. Then only ParameterBytes limits the number of buffers
// and textures.
bool uses_argument_buffer(const Kernel& kernel, const Target& target);

// Whether a block of the kernel fits into one SIMD-group of the width that the target states.
bool is_one_simd_group(const Kernel& kernel, const Target& target);
// Whether the kernel is correct only where SIMD-groups have the width that the target states.
// Kernels with foreign calls count, since foreign functions may rely on that width.
bool relies_on_simd_width(const Kernel& kernel, const Target& target);

// The limits of `target` that the kernel exceeds, in the order of Limit. Each limit occurs once,
// except ImageSize, which occurs for every texture that is too large.
std::vector<Excess> exceeded_limits(const Kernel& kernel, const Target& target);

}  // namespace texloom::ir
