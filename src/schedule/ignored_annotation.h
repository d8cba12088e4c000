// Warnings about annotations without effect, because their loop was replaced or threads run it.
//
// unroll, vectorize and parallel say how the iterations of a loop run; results do not depend on
// them. These annotations may be given in any order with other directives: split() and fuse() drop
// the annotations of the loops that they replace, and a binding to threads always wins. These
// functions find the annotations that are lost; call them before the directive.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"

namespace texloom::schedule {

// The state of an axis in words: "bound to threadIdx.x", "vectorized". Empty for a serial loop.
std::string annotation(const AxisAttributes& attributes);

// A warning for each axis that loses its annotation because the axis is `now` "split", "bound to
// threadIdx.x", ...
std::vector<Diagnostic> dropped_annotations(const Stage& stage,
                                            const std::vector<ir::IterVar>& axes,
                                            std::string_view now, const SourceLocation& where);

// A warning if the axis that the directive annotates is bound, and therefore stays bound.
std::optional<Diagnostic> ignored_annotation(const Stage& stage, const ir::IterVar& axis,
                                             std::string_view directive,
                                             const SourceLocation& where);

}  // namespace texloom::schedule
