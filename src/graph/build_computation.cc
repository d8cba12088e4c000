#include "graph/build_computation.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "ir/program.h"

namespace texloom::graph {

ir::Exprs extents_of(const ir::Shape& shape) {
  ir::Exprs extents;
  for (const std::int64_t extent : shape) extents.push_back(ir::make_int(extent));
  return extents;
}

std::optional<ir::Shape> numbers_of(const ir::Exprs& extents) {
  ir::Shape shape;
  for (const ir::Expr& extent : extents) {
    const std::int64_t* number = ir::int_value(extent);
    if (number == nullptr) return std::nullopt;
    shape.push_back(*number);
  }
  return shape;
}

ir::Tensor placeholder(std::string name, ir::Type type, ir::Exprs extents,
                       const SourceLocation& location) {
  return schedule::output_of(
      schedule::make_placeholder(std::move(name), type, std::move(extents), location));
}

std::vector<ir::IterVar> axes_over(const ir::Exprs& extents) {
  std::vector<ir::IterVar> axes;
  for (std::size_t i = 0; i < extents.size(); ++i)
    axes.push_back(ir::make_iter_var(ir::make_var(fmt::format("i{}", i)), ir::make_int(0),
                                     extents[i], ir::IterKind::Data));
  return axes;
}

SharedComputation moved_elements(const ir::Tensor& placeholder, ir::Exprs indices,
                                 const std::vector<ir::IterVar>& axes, std::string name,
                                 std::string_view tag) {
  const SourceLocation& location = placeholder->location;
  const ir::Expr element = ir::make_tensor_read(placeholder, std::move(indices), location);
  const ir::Tensor output = schedule::output_of(
      schedule::make_compute(std::move(name), std::string(tag), axes, element, location));
  return std::make_shared<const Computation>(Computation{{placeholder}, {output}});
}

}  // namespace texloom::graph
