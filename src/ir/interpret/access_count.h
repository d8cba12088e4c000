// How often the kernels of a program access each buffer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "ir/buffer.h"

namespace texloom::ir {

// Of all threads of all launches; a vector or a texel that is accessed at once is one access.
struct AccessCount {
  int64_t reads = 0, writes = 0;
};
// By the kernel's name and what it calls the buffer.
using AccessCounts = std::map<std::pair<std::string, const BufferNode*>, AccessCount>;

}  // namespace texloom::ir
