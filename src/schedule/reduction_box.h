// Reductions whose domains depend on the element that is computed: triangles and the like.
#pragma once

#include <string_view>
#include <vector>

#include "ir/expr.h"

namespace texloom::schedule {

// The same reduction over a box: each axis whose domain uses axes of the tensor, or reduction axes
// before it, runs as far as it ever does, and a condition says which of its points take part. So
// extents depend on nothing but symbols wherever an axis is looked at; loops end where the
// condition says so (early_end.h).
//
//   reduce(sum, [k < i + 1], A[i, k])  ->  reduce(sum, [k < 16], A[i, k], where=k < i + 1)
//
// `axes` are the tensor's, `name` is its own. The reduction itself where no domain depends on an
// axis. Fails with BadReduction where it is not known how far an axis runs, or its domain uses an
// axis that comes after it.
ir::Expr reduction_over_box(const ir::Expr& body, const std::vector<ir::IterVar>& axes,
                            std::string_view name);

}  // namespace texloom::schedule
