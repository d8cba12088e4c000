// Annotations that change nothing, since the loop is no more or threads run it.
//
// unroll, vectorize and parallel say how the iterations of a loop follow one another, which changes
// no result. Directives take them in any order with others: split() and fuse() drop those of the
// loops that they replace, and of a bound axis the threads win, whichever was said first. What is
// lost is asked for here, before the directive is called.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"

namespace texloom::schedule {

// What an axis was said to become: "bound to threadIdx.x", "vectorized". Empty of a serial loop.
std::string annotation(const AxisAttributes& attributes);

// A warning for each of the axes whose annotation goes when it is made something else `now`:
// "split", "bound to threadIdx.x".
std::vector<Diagnostic> dropped_annotations(const Stage& stage,
                                            const std::vector<ir::IterVar>& axes,
                                            std::string_view now, const SourceLocation& where);

// A warning where the axis that the directive annotates is bound, and stays so.
std::optional<Diagnostic> ignored_annotation(const Stage& stage, const ir::IterVar& axis,
                                             std::string_view directive,
                                             const SourceLocation& where);

}  // namespace texloom::schedule
