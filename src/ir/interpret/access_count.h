// Counts how often the kernels of a program access each buffer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "ir/buffer.h"

namespace texloom::ir {

// The accesses of all threads of all launches. Accessing a vector or a texel counts once.
struct AccessCount {
  int64_t reads = 0, writes = 0;
};
// By the buffer, as the kernel declares it.
using KernelAccessCounts = std::unordered_map<const BufferNode*, AccessCount>;
using AccessCounts = std::map<std::string, KernelAccessCounts>;  // by the kernel's name

}  // namespace texloom::ir
