// Counts what the threads of a kernel do, for estimates of its time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace texloom::lower {

// The work of all threads of a launch, unless it is said to be that of a thread or a block.
//
// A value that a loop does not change is assumed to be computed or read before the loop, and equal
// values of one iteration to be computed or read once: compilers of devices see to that. So
// counts are less than those of memory_traffic.h, where an access in the text of a kernel counts.
// Conditions are assumed to hold.
struct KernelWork {
  double blocks = 1;
  double block_threads = 1;
  double operations = 0;         // of floats, each lane; a fused product is one operation
  double fragment_products = 0;  // of elements, by steps of fragments: not among the operations
  double buffer_bytes = 0;       // read from and written to buffers in global memory
  double texture_bytes = 0;      // read from and written to textures, whole texels
  double shared_bytes = 0;       // read from and written to shared memory
  // The bytes of the arguments that are touched, each counted once, with its padding.
  double distinct_bytes = 0;
  // How often a thread waits for global memory: loads of an iteration overlap, and so do
  // asynchronous copies of the groups that are in flight.
  double turns = 0;
  // Of a thread, of 32 bits: those of its arrays, and its share of fragments that a SIMD-group
  // holds.
  double registers = 0;
  double block_shared_bytes = 0;  // of a block's arrays in shared memory

  bool operator==(const KernelWork&) const = default;
};

// nullopt if the work depends on values at run time: for grids or loops of unknown extents, loops
// with a condition, foreign code. Accepts kernels at the stages kernels and legalized.
std::optional<KernelWork> work_of(const ir::Kernel& kernel);
// The work of all kernels of a program; empty if that of one of them is not known.
std::vector<KernelWork> work_of(const ir::Program& program);

}  // namespace texloom::lower
