// What a kernel moves: how often it reads and writes each buffer, and how many bytes that is.
#pragma once

#include <vector>

#include "ir/program.h"
#include "lower/iteration_count.h"

namespace texloom::lower {

// A vector that is read at once, or a texel, is one access.
struct Movement {
  Count accesses;
  Count bytes;

  bool operator==(const Movement&) const = default;
};

struct Traffic {
  ir::Buffer buffer;
  Movement read, written;
};

// Of all threads of one launch, for each buffer in the order in which the kernel first names it. It
// is what the kernel asks for, as it is written: a device's compiler may keep in a register what is
// read twice, and caches serve what was read before. Of stages Kernels and Legalised.
std::vector<Traffic> traffic_of(const ir::Kernel& kernel);

}  // namespace texloom::lower
