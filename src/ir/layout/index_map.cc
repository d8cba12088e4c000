#include "ir/layout/index_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "support/check.h"

namespace texloom::ir {
namespace {

// The digits of new axes, as one list of digits of the old axes.
std::optional<LayoutParts> through(const IndexMap& map, const LayoutParts& parts) {
  LayoutParts result;
  for (const LayoutPart& part : parts) {
    const LayoutParts& number = map.axes[static_cast<size_t>(part.axis)];
    const auto digits = digit_of(number, part.divisor, part.extent, map.shape);
    if (!digits) return std::nullopt;
    result.insert(result.end(), digits->begin(), digits->end());
  }
  return result;
}

}  // namespace

Shape IndexMap::new_shape() const {
  Shape extents;
  for (const LayoutParts& axis : axes) extents.push_back(count_of(axis));
  return extents;
}

std::vector<int64_t> IndexMap::at(const std::vector<int64_t>& index) const {
  TL_CHECK(index.size() == shape.size());
  std::vector<int64_t> result;
  for (const LayoutParts& axis : axes) result.push_back(number_of(axis, index));
  return result;
}

std::optional<std::vector<int64_t>> IndexMap::index_at(
    const std::vector<int64_t>& new_index) const {
  TL_CHECK(new_index.size() == axes.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (new_index[i] < 0 || new_index[i] >= count_of(axes[i])) return std::nullopt;
    scatter(axes[i], new_index[i], index);
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (index[i] >= shape[i]) return std::nullopt;
  }
  return index;
}

IndexMap identity_map(Shape shape) {
  IndexMap map;
  for (size_t i = 0; i < shape.size(); ++i) {
    map.axes.push_back({{static_cast<int>(i), 1, shape[i]}});
  }
  map.shape = std::move(shape);
  return map;
}

IndexMap split_axis(IndexMap map, size_t axis, int64_t factor) {
  const LayoutPart digit = map.axes.at(axis).front();
  TL_CHECK(
      map.axes[axis].size() == 1 && (is_outermost(digit, map.shape) || digit.extent % factor == 0),
      "a split of several digits, or through one that it does not divide");
  map.axes[axis] = {{digit.axis, digit.divisor * factor, ceil_div(digit.extent, factor)}};
  map.axes.insert(map.axes.begin() + static_cast<ptrdiff_t>(axis) + 1,
                  LayoutParts{{digit.axis, digit.divisor, factor}});
  return map;
}

std::optional<IndexMap> compose(const IndexMap& first, const IndexMap& second) {
  TL_CHECK(second.shape == first.new_shape());
  IndexMap result{first.shape, {}};
  for (const LayoutParts& axis : second.axes) {
    auto digits = through(first, axis);
    if (!digits) return std::nullopt;
    result.axes.push_back(*std::move(digits));
  }
  return result;
}

Layout distribute(const IndexMap& map, Separators separators, MemoryObject object) {
  const auto [rows, cols] = separators;
  TL_CHECK(rows <= cols && cols <= map.axes.size());
  Layout layout;
  layout.shape = map.shape;
  layout.object = object;
  for (size_t i = 0; i < map.axes.size(); ++i) {
    LayoutParts& list = i < rows ? layout.rows : i < cols ? layout.cols : layout.lanes;
    list.insert(list.end(), map.axes[i].begin(), map.axes[i].end());
  }
  return layout;
}

IndexMap as_map(const Layout& layout) {
  return {layout.shape, {layout.rows, layout.cols, layout.lanes}};
}

std::optional<Layout> compose(const IndexMap& map, const Layout& layout) {
  const auto all = compose(map, as_map(layout));
  if (!all) return std::nullopt;
  Layout result = distribute(*all, {1, 2}, layout.object);
  result.padding = layout.padding;
  return result;
}

std::optional<LayoutProblem> find_problem(const IndexMap& map,
                                          const std::vector<std::string>& names) {
  LayoutParts all;
  for (const LayoutParts& axis : map.axes) all.insert(all.end(), axis.begin(), axis.end());
  const std::string help = "let every element have one new index, and no two the same";
  if (!checked_count(all)) return LayoutProblem{"there are too many elements", help, {}};
  const auto fault = find_fault(all, map.shape, names);
  if (!fault) return std::nullopt;
  return LayoutProblem{fmt::format("the parts of axis {} {}",
                                   names[static_cast<size_t>(fault->axis)], fault->problem),
                       help, fault->axis};
}

std::string to_string(const IndexMap& map, const std::vector<size_t>& separators) {
  const std::vector<std::string> names = axis_names(map.shape.size());
  std::vector<std::string> axes;
  auto separator = separators.begin();
  const auto separate = [&](size_t axis) {
    for (; separator != separators.end() && *separator == axis; ++separator) axes.emplace_back("|");
  };
  for (size_t i = 0; i < map.axes.size(); ++i) {
    separate(i);
    std::vector<std::string> digits;
    for (const LayoutPart& part : map.axes[i]) {
      digits.push_back(
          to_string(open_ended(part, map.shape), names[static_cast<size_t>(part.axis)]));
    }
    const std::string text = fmt::format("{}", fmt::join(digits, ", "));
    axes.push_back(digits.size() == 1 ? text : "(" + text + ")");
  }
  separate(map.axes.size());
  return fmt::format("({}) -> ({})", fmt::join(names, ", "), fmt::join(axes, ", "));
}

}  // namespace texloom::ir
