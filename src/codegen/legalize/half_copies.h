// Finds arrays of float16 that a kernel copies without computing.
#pragma once

#include <unordered_set>

#include "ir/stmt.h"

namespace texloom::codegen {

// Arrays of a kernel that hold float16 where a language has float16 in memory alone.
struct HalfArrays {
  // Those that steps of fragments load from or store to: they stay float16, as arguments do.
  std::unordered_set<const ir::BufferNode*> of_steps;
  // Those that only carry elements between arguments and arrays of steps: they hold their bits.
  std::unordered_set<const ir::BufferNode*> bits;
};

// Both are empty for a kernel without steps of fragments.
HalfArrays half_arrays(const ir::Stmt& body);

// Whether the value is made of elements of float16 in memory and of constants, by choosing alone.
bool is_copy_of_halves(const ir::Expr& value);

}  // namespace texloom::codegen
