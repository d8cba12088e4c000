// How a computation reads its inputs, which decides what can be computed inside another kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/operation/operation.h"

namespace texloom::schedule {

// Which elements of a tensor an element of the result depends on, from near to far.
enum class ReadKind : uint8_t {
  Own,        // the element at the same indices, in a tensor of the same shape
  Broadcast,  // the element at some of the same indices, in order, and at 0 of axes of extent 1
  Other,
};

struct InputReads {
  ir::Tensor tensor;
  ReadKind kind = ReadKind::Own;  // the farthest of all reads
  int64_t count = 0;              // how many reads the expression has
  bool in_indices = false;        // whether an index of another read depends on it
};

struct OperationReads {
  std::vector<InputReads> inputs;  // each once, in the order of Operation::inputs
  // The number of nodes of the operation's expression; for a reduction, of the combined expression.
  // Shared parts count at each place, since a kernel's source repeats them.
  int64_t size = 0;
  bool moves = false;      // each element is an element of an input, or a fixed value
  bool contracts = false;  // the operation reduces products of elements of inputs
};

// Counting the nodes of an expression stops at this number.
inline constexpr int64_t kMostCountedNodes = 10'000;

// The operation is a compute. In a reduction all reads are of kind Other.
OperationReads reads_of(const Operation& op);

}  // namespace texloom::schedule
