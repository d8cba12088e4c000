// Fragments that the threads of a SIMD-group hold together (FragmentStep).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/program.h"

namespace texloom::ir {

// The threads that hold a fragment: those along threadIdx.x, which run in step.
inline constexpr int64_t kFragmentThreads = 32;

// What the parts of a fragment are in products. Hardware holds each kind in a different way.
enum class FragmentRole : uint8_t { Sums, Left, LeftTransposed, Right, RightTransposed };
using FragmentRoles = std::unordered_map<const BufferNode*, FragmentRole>;

// Whether the statement has steps of fragments.
bool has_fragment_steps(const Stmt& body);

// The role of each fragment that steps name. A fragment that is a factor of no product has sums.
// Requires that fragment_problem() finds none.
FragmentRoles fragment_roles(const Stmt& body);

// The number of a part of 16 x 16 elements, row by row. `offset`: of its first element in a
// fragment, whose last two axes are rows and columns. nullopt if no part begins there.
std::optional<int64_t> fragment_part(const BufferNode& fragment, int64_t offset);
// The part to which a pointer of a flattened program points.
std::optional<int64_t> fragment_part(const Pointer& pointer);

struct FragmentProblem {
  const FragmentStep* step = nullptr;  // null if the problem is an access by another statement
  Buffer fragment;
  SourceLocation location;
  std::string text, help;
};
// Why the steps of a kernel are none of SIMD-groups. All of these must hold: the block has 32
// threads along threadIdx.x; these threads reach each step together, with the same operands; each
// step is of whole parts; a fragment has one role; and no other statement accesses it.
// Requires stage kernels or later.
std::optional<FragmentProblem> fragment_problem(const Kernel& kernel);

}  // namespace texloom::ir
