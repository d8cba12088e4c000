// Counts the reads and writes of each buffer by a kernel, and their bytes.
#pragma once

#include <vector>

#include "ir/program.h"
#include "lower/analysis/iteration_count.h"

namespace texloom::lower {

// An access of a vector or of a texel counts once.
struct Movement {
  Count accesses;
  Count bytes;

  bool operator==(const Movement&) const = default;
};

struct Traffic {
  ir::Buffer buffer;
  Movement read, written;
};

// The traffic of all threads of one launch, for each buffer in the order in which the kernel first
// names it. Counts the accesses in the text of the kernel: a device's compiler may keep a value
// that is read twice in a register, and caches may serve repeated reads. The tickets of a LastBlock
// do not count; its body counts for each block, as an upper bound. Accepts kernels at the stages
// kernels and legalized.
std::vector<Traffic> traffic_of(const ir::Kernel& kernel);

}  // namespace texloom::lower
