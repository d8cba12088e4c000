#include "schedule/transform_layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "ir/program.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of layouts

namespace {

// Index expressions as digits.
class DigitReader {
 public:
  DigitReader(const Shape& shape, const Exprs& axes, const SourceLocation& where)
      : shape_(shape), axes_(axes), where_(where) {}

  LayoutParts read(const Expr& e) const {
    if (auto parts = digits(e)) return *std::move(parts);
    fail(where_, Code::BadLayout,
         "make each index of axes, quotients and remainders by constants, and fusions, as n, c//4, "
         "c%4 or h*W + w",
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
         "'{}' lies in a buffer, which has no rows and columns to separate", name);
  }
  if (shape.empty() || separators.size() > 1) {
    fail(where, Code::BadLayout, "name the rows' axes, one AXIS_SEPARATOR, the columns' and lanes'",
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

namespace {

// The loops of one old axis, by the digits that the map cuts it into: of each digit its leaf.
class DigitLoops {
 public:
  DigitLoops(Schedule& schedule, StageId id, const IndexMap& map)
      : schedule_(schedule), id_(id), leaves_(map.shape.size()) {
    for (const LayoutParts& axis : map.axes) {
      for (const LayoutPart& part : axis) leaves_[static_cast<size_t>(part.axis)][part.divisor];
    }
    for (size_t axis = 0; axis < leaves_.size(); ++axis) cut(axis);
  }

  const IterVar& of(const LayoutPart& part) const {
    return leaves_[static_cast<size_t>(part.axis)].at(part.divisor);
  }

 private:
  // From the most significant digit inwards: each split leaves the digits below for the next.
  void cut(size_t axis) {
    IterVar rest = schedule_.stage(id_).op->axes[axis];
    std::map<int64_t, IterVar>& digits = leaves_[axis];
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      if (digit->first == 1) {
        digit->second = rest;
        continue;
      }
      const Schedule::Pair parts = schedule_.split_exactly(id_, rest, digit->first);
      digit->second = parts.outer;
      rest = parts.inner;
    }
  }

  Schedule& schedule_;
  StageId id_;
  std::vector<std::map<int64_t, IterVar>> leaves_;  // of each old axis, by divisor
};

}  // namespace

std::vector<IterVar> Schedule::transform_layout(StageId id, const Exprs& axes, const Exprs& indices,
                                                std::vector<size_t> separators,
                                                const SourceLocation& where) {
  Stage& own = stage(id);
  if (own.op->is_extern()) {
    fail(where, Code::BadLayout, "copy it into the other layout by a te.compute",
         "transform_layout of '{}', whose statement writes to a row-major buffer", own.name());
  }
  const Shape shape = own.transform ? own.transform->map.new_shape()
                                    : constant_shape(own.op->shape, own.name(), where);
  if (axes.size() != shape.size()) {
    fail(where, Code::BadLayout, "give the function one parameter for each axis, or *axes",
         "transform_layout of '{}' takes {} axes, the tensor has {}", own.name(), axes.size(),
         shape.size());
  }
  IndexMap map = index_map_of(shape, axes, indices, where);
  if (own.transform) {
    const auto both = compose(own.transform->map, map);
    if (!both) {
      fail(where, Code::BadLayout, "say both in one transform_layout",
           "the axes of '{}' are cut across an earlier transform_layout", own.name());
    }
    map = *both;
  }
  const size_t earlier = own.transform ? own.transform->relations : 0;
  own.transform = AxisTransform{map, std::move(separators), 0, where};
  if (own.op->is_placeholder()) return {};
  return transform_loops(id, earlier, where);
}

std::vector<IterVar> Schedule::transform_loops(StageId id, size_t earlier,
                                               const SourceLocation& where) {
  Stage& own = stage(id);
  const IndexMap& map = own.transform->map;
  if (own.relations.size() != earlier || !own.attributes.empty()) {
    fail(where, Code::BadLayout, "call transform_layout before any directive on the stage's loops",
         "transform_layout of '{}', whose loops are scheduled already", own.name());
  }
  own.reset_loops();
  const DigitLoops digits(*this, id, map);
  std::vector<std::vector<IterVar>> groups;
  std::vector<IterVar> order;
  for (const LayoutParts& axis : map.axes) {
    std::vector<IterVar>& group = groups.emplace_back();
    for (const LayoutPart& part : axis) group.push_back(digits.of(part));
    // Of an axis that is always 0: a loop of one iteration.
    if (group.empty()) group.push_back(fuse(id, {}, where));
    order.insert(order.end(), group.begin(), group.end());
  }
  // Axes of one index that the map leaves out go to the front.
  std::vector<IterVar> left;
  for (const IterVar& leaf : own.leaves) {
    const bool named = std::any_of(order.begin(), order.end(),
                                   [&](const IterVar& axis) { return axis.same_as(leaf); });
    if (!named && leaf->kind == IterKind::Data) left.push_back(leaf);
  }
  order.insert(order.begin(), left.begin(), left.end());
  reorder(id, order, where);
  std::vector<IterVar> result;
  for (const std::vector<IterVar>& group : groups) result.push_back(fuse(id, group, where));
  own.transform->relations = own.relations.size();
  return result;
}

}  // namespace texloom::schedule
