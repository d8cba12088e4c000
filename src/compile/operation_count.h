// Counts the arithmetic operations of a schedule's computations, before lowering.
#pragma once

#include <optional>
#include <vector>

#include "ir/expr.h"
#include "ir/visit.h"
#include "schedule/schedule.h"

namespace texloom::compile {

// The operations of one computation: `per_point` at each point of a box of these extents.
struct OperationTerm {
  double per_point = 0;
  ir::Exprs extents = {};  // may have symbols
};
using OperationCount = std::vector<OperationTerm>;

// Each addition, subtraction, multiplication, division, remainder, minimum, maximum, operation on
// bits and call of an element function counts as one operation, an fma as two; the combination of
// partial results counts at each point of a reduction. Comparisons, selections, conversions and the
// arithmetic of indices and conditions do not count. A node that occurs several times in a body
// counts once, but equal expressions that are different nodes count each time. Each stage counts
// once, with its whole shape, even if compute_at or inlining would compute it several times.
// nullopt if a stage is an extern or calls a foreign function.
std::optional<OperationCount> count_operations(const schedule::Schedule& schedule);

// The number of operations for these values of the symbols; nullopt if a symbol has no value.
std::optional<double> total(const OperationCount& count, const ir::Substitution& symbols);

}  // namespace texloom::compile
