#include "schedule/operation/axis_transform.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "ir/program.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on layouts

namespace {

// Reads index expressions as digits.
class DigitReader {
 public:
  DigitReader(const Shape& shape, const Exprs& axes, const SourceLocation& where)
      : shape_(shape), axes_(axes), where_(where) {}

  LayoutParts read(const Expr& e) const {
    if (auto parts = digits(e)) return *std::move(parts);
    fail(where_, Code::BadLayout,
         "make each index an axis (n), a quotient or remainder of an axis by a constant "
         "(c//4, c%4), or a fusion of these (h*W + w)",
         "transform_layout cannot lay out an axis by the index {}", to_string(e));
  }

 private:
  std::optional<LayoutParts> digits(const Expr& e) const {
    const auto axis =
        std::find_if(axes_.begin(), axes_.end(), [&](const Expr& a) { return a.same_as(e); });
    if (axis != axes_.end()) {
      const auto i = axis - axes_.begin();
      return LayoutParts{{static_cast<int>(i), 1, shape_[static_cast<size_t>(i)]}};
    }
    if (is_int(e, 0)) return LayoutParts{};
    const auto* n = as<Binary>(e);
    if (n == nullptr) return std::nullopt;
    if (n->op == BinaryOp::Add) return fusion(*n);
    const int64_t* constant = int_value(n->b);
    const auto number = digits(n->a);
    if (!number || constant == nullptr || *constant < 1) return std::nullopt;
    if (n->op == BinaryOp::FloorDiv || n->op == BinaryOp::Div) {
      return digit_of(*number, *constant, ceil_div(count_of(*number), *constant), shape_);
    }
    const bool remainder = n->op == BinaryOp::FloorMod || n->op == BinaryOp::Mod;
    return remainder ? digit_of(*number, 1, *constant, shape_) : std::nullopt;
  }

  // outer * extent(inner) + inner
  std::optional<LayoutParts> fusion(const Binary& sum) const {
    const auto* product = as<Binary>(sum.a);
    if (product == nullptr || product->op != BinaryOp::Mul) return std::nullopt;
    auto outer = digits(product->a);
    const auto inner = digits(sum.b);
    const int64_t* factor = int_value(product->b);
    if (!outer || !inner || factor == nullptr || *factor != count_of(*inner)) return std::nullopt;
    outer->insert(outer->end(), inner->begin(), inner->end());
    return outer;
  }

  const Shape& shape_;
  const Exprs& axes_;
  const SourceLocation& where_;
};

Layout array_layout(const AxisTransform& transform, const StorageScope& scope,
                    const std::string& name) {
  const Shape shape = transform.map.new_shape();
  const std::vector<size_t>& separators = transform.separators;
  const SourceLocation& where = transform.location;
  if (!scope.texture) {
    if (separators.empty()) return linear_layout(shape);
    fail(where, Code::BadLayout, "leave out AXIS_SEPARATOR, or put the tensor into a texture",
         "'{}' is stored in a buffer, which has no rows and columns to separate", name);
  }
  if (shape.empty() || separators.size() > 1) {
    fail(where, Code::BadLayout,
         "name the axes of rows, one AXIS_SEPARATOR, then the axes of columns and lanes",
         "the texture '{}' has {} new axes and {} separators", name, shape.size(),
         separators.size());
  }
  if (separators.empty()) return texture_layout(shape, *scope.texture);
  IndexMap axes = identity_map(shape);
  if (shape.back() != kTexelLanes) axes = split_axis(axes, shape.size() - 1, kTexelLanes);
  const size_t lanes = axes.axes.size() - 1;
  return distribute(axes, {std::min(separators.front(), lanes), lanes}, MemoryObject::Image2d);
}

}  // namespace

IndexMap index_map_of(const Shape& shape, const Exprs& axes, const Exprs& indices,
                      const SourceLocation& where) {
  const DigitReader reader(shape, axes, where);
  IndexMap map{shape, {}};
  for (const Expr& index : indices) map.axes.push_back(reader.read(index));
  std::vector<std::string> names;
  for (const Expr& axis : axes) names.push_back(to_string(axis));
  if (const auto problem = find_problem(map, names)) {
    fail(where, Code::BadLayout, problem->help, "transform_layout: {}", problem->text);
  }
  return map;
}

TransformedLayout transformed_layout(const AxisTransform& transform, const StorageScope& scope,
                                     const std::string& name) {
  const Layout array = array_layout(transform, scope, name);
  if (const auto tensor = compose(transform.map, array)) return {*tensor, array};
  fail(transform.location, Code::BadLayout,
       "let the last new axis have four elements, as c%4, or a multiple of four",
       "the new axes of '{}' cannot be cut into texels of four", name);
}

}  // namespace texloom::schedule
