// Parts of the computations that passes and copies build.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/computation.h"
#include "ir/layout/digits.h"

namespace texloom::graph {

// The extents as expressions, and the other way round: nullopt if one is not a number.
ir::Exprs extents_of(const ir::Shape& shape);
std::optional<ir::Shape> numbers_of(const ir::Exprs& extents);

ir::Tensor placeholder(std::string name, ir::Type type, ir::Exprs extents,
                       const SourceLocation& location = {});

// Data axes of these extents, from 0 on, with the variables i0, i1, ...
std::vector<ir::IterVar> axes_over(const ir::Exprs& extents);

// The computation whose element at the axes is the element of the placeholder at the indices.
SharedComputation moved_elements(const ir::Tensor& placeholder, ir::Exprs indices,
                                 const std::vector<ir::IterVar>& axes, std::string name,
                                 std::string_view tag = "");

}  // namespace texloom::graph
