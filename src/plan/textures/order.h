// Finds orders of operators that dependences allow and that need little memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/textures/instance.h"
#include "plan/textures/problem.h"

namespace texloom::plan {

// Indices of operators in the order in which they are to run.
using OperatorOrder = std::vector<std::int64_t>;

// For each operator of a valid problem, the operators that must run before it: the writers of its
// inputs, and the operators that it lists in `after`. Sorted, without repetition.
std::vector<std::vector<std::int64_t>> predecessors(const TextureProblem& problem);

// The problem with the lifetimes that result from an allowed order. Its operators keep their
// numbers: times are positions in `order`.
TextureProblem reordered(const TextureProblem& problem, const OperatorOrder& order);

// Allowed orders with a low maximum of live texels, the best first, then the given order. The
// search ends after `steps` steps, or when `is_over` returns true; an empty `is_over` never ends
// it.
std::vector<OperatorOrder> likely_orders(const TextureProblem& problem, std::int64_t steps,
                                         const std::function<bool()>& is_over = {});

// For each operator, the items of the instance that are live when it runs, in every allowed order:
// items that it uses, and items that are used both by an operator that must run earlier and by an
// operator that must run later. The sets are in the given order of operators; most sets that are
// subsets of others are left out.
std::vector<std::vector<int>> always_live_sets(const TextureProblem& problem,
                                               const TextureInstance& instance);

}  // namespace texloom::plan
