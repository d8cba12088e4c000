#include <algorithm>
#include <map>

#include "schedule/schedule.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on layouts

namespace {

// The loops of the old axes: the leaf for each digit that the map cuts an axis into.
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
  // Works from the most significant digit inwards: each split leaves the digits below for the next.
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
  std::vector<std::map<int64_t, IterVar>> leaves_;  // the leaves of each old axis, by divisor
};

}  // namespace

std::vector<IterVar> Schedule::transform_layout(StageId id, const Exprs& axes, const Exprs& indices,
                                                std::vector<size_t> separators,
                                                const SourceLocation& where) {
  Stage& own = stage(id);
  if (own.op->is_extern()) {
    fail(where, Code::BadLayout, "copy it into the other layout by a te.compute",
         "cannot apply transform_layout to '{}': its statement writes to a row-major buffer",
         own.name());
  }
  refuse_scan(own, "transform_layout", where);
  refuse_part_of_scan(own, "transform_layout", where);
  const Shape shape = own.transform ? own.transform->map.new_shape()
                                    : constant_shape(own.op->shape, own.name(), where);
  if (axes.size() != shape.size()) {
    fail(where, Code::BadLayout, "give the function one parameter for each axis, or *axes",
         "transform_layout of '{}' takes {} axes, but the tensor has {}", own.name(), axes.size(),
         shape.size());
  }
  IndexMap map = index_map_of(shape, axes, indices, where);
  if (own.transform) {
    const auto both = compose(own.transform->map, map);
    if (!both) {
      fail(where, Code::BadLayout, "combine both into one transform_layout",
           "transform_layout of '{}' cuts across the axes of an earlier transform_layout",
           own.name());
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
         "cannot apply transform_layout to '{}': its loops are already scheduled", own.name());
  }
  own.reset_loops();
  const DigitLoops digits(*this, id, map);
  std::vector<std::vector<IterVar>> groups;
  std::vector<IterVar> order;
  for (const LayoutParts& axis : map.axes) {
    std::vector<IterVar>& group = groups.emplace_back();
    for (const LayoutPart& part : axis) group.push_back(digits.of(part));
    // An axis that is always 0 gets a loop of one iteration.
    if (group.empty()) group.push_back(fuse(id, {}, where));
    order.insert(order.end(), group.begin(), group.end());
  }
  // Axes of extent 1 that the map leaves out go to the front.
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
