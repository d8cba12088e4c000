// Determines the values of a plan's symbols at a call, and substitutes them into the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The symbol values that the caller passes, if any.
using GivenSymbols = std::vector<std::optional<std::int64_t>>;  // one for each symbol of the plan
using Shape = std::vector<std::int64_t>;

// The values of the plan's symbols for arrays of these shapes, in the order of the arguments. An
// extent whose expression has a single unknown symbol, in sums, differences or products with known
// values, determines that symbol. All extents are then compared with those of the arrays.
// InvalidArgument names the argument, the axis and the expected value: a wrong rank or extent, an
// extent below 0, a symbol that no extent determines or that exceeds 2^30, or a condition of the
// plan that does not hold.
Result<std::vector<std::int64_t>> bind_symbols(const LaunchPlan& plan,
                                               std::span<const Shape> shapes,
                                               const GivenSymbols& given);

// The shapes of all arguments of a call that gives only some arrays. The shapes that are nullopt in
// `shapes` follow from the symbols. Fails like bind_symbols().
Result<std::vector<Shape>> complete_shapes(const LaunchPlan& plan,
                                           std::span<const std::optional<Shape>> shapes,
                                           const GivenSymbols& given);

// The tensor with a known shape. A size that depends on the call follows from the shape, and the
// array of a buffer is then row-major. InvalidArgument if it has more than 2^30 elements, which
// kernels cannot index.
Result<TensorSpec> with_shape(const TensorSpec& tensor, std::span<const std::int64_t> shape);

// The plan of one call, without symbols: all sizes are numbers except those that depend on loop
// variables. InvalidArgument if an array has more than 2^30 elements, which kernels cannot index.
Result<LaunchPlan> instantiate(const LaunchPlan& plan, std::span<const std::int64_t> symbols);

}  // namespace texloom::runtime
