// Counts how often a kernel reads and writes each buffer, and how many bytes that is.
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
// names it. It counts the accesses in the text of the kernel: a device's compiler may keep a value
// in a register that is read twice, and caches serve repeated reads. Takes kernels of the stages
// kernels and legalized.
std::vector<Traffic> traffic_of(const ir::Kernel& kernel);

}  // namespace texloom::lower
