// Counts how often the kernels of a program access each buffer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "ir/buffer.h"

namespace texloom::ir {

// The accesses of all threads of all launches. Accessing a vector or a texel counts once.
struct AccessCount {
  int64_t reads = 0, writes = 0;
};
// Keyed by the kernel's name and the buffer as the kernel declares it.
using AccessCounts = std::map<std::pair<std::string, const BufferNode*>, AccessCount>;

}  // namespace texloom::ir
