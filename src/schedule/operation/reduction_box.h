// Reductions whose domains depend on the element that is computed: triangles and the like.
#pragma once

#include <string_view>
#include <vector>

#include "ir/expr.h"

namespace texloom::schedule {

// Extends the reduction to a box. Each axis whose domain uses axes of the tensor or earlier
// reduction axes runs over its largest domain, and a condition selects the points that take part.
// Then extents depend only on symbols. Loops still end early according to the condition
// (early_end.h).
//
//   reduce(sum, [k < i + 1], A[i, k])  ->  reduce(sum, [k < 16], A[i, k], where=k < i + 1)
//
// `axes` and `name` are the tensor's axes and its name. Returns the reduction unchanged if no
// domain depends on an axis. Fails with BadReduction if the largest domain of an axis is unknown,
// or if a domain uses a later axis.
ir::Expr reduction_over_box(const ir::Expr& body, const std::vector<ir::IterVar>& axes,
                            std::string_view name);

}  // namespace texloom::schedule
