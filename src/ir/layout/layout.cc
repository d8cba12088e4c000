#include "ir/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/layout/index_map.h"
#include "ir/layout/layout_pattern.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

LayoutParts all_parts(const Layout& layout) {
  LayoutParts all;
  for (const LayoutParts* list : {&layout.rows, &layout.cols, &layout.lanes}) {
    all.insert(all.end(), list->begin(), list->end());
  }
  return all;
}

// The number of outer axes of a texture that become rows.
size_t row_axes(TextureRule rule, size_t outer) {
  switch (rule) {
    case TextureRule::Activation:
      return outer == 0 ? 0 : outer - 1;
    case TextureRule::Weight:
      return std::min<size_t>(outer, 1);
    case TextureRule::Nhwc:
      return outer <= 2 ? outer / 2 : 2;
  }
  TL_UNREACHABLE();
}

}  // namespace

std::string_view spelling(MemoryObject object) {
  switch (object) {
    case MemoryObject::Buffer:
      return "buffer";
    case MemoryObject::Image2d:
      return "texture";
    case MemoryObject::Image2dArray:
      return "image2d_array";
    case MemoryObject::Image1dBuffer:
      return "image1d_buffer";
  }
  TL_UNREACHABLE();
}

bool is_texel_type(Type type) {
  const bool is_float = type.code == TypeCode::Float && type.bits <= 32;
  return type.is_scalar() && (is_float || (type.is_integer() && type.bits <= 32));
}

Coordinates Layout::at(const std::vector<int64_t>& index) const {
  TL_CHECK(index.size() == shape.size());
  return {number_of(rows, index), number_of(cols, index), number_of(lanes, index)};
}

std::optional<std::vector<int64_t>> Layout::index_at(const Coordinates& c) const {
  if (c.row < 0 || c.row >= row_count() || c.col < 0 || c.col >= col_count() || c.lane < 0 ||
      c.lane >= lane_count()) {
    return std::nullopt;
  }
  std::vector<int64_t> index(shape.size(), 0);
  scatter(rows, c.row, index);
  scatter(cols, c.col, index);
  scatter(lanes, c.lane, index);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (index[i] >= shape[i]) return std::nullopt;
  }
  return index;
}

bool Layout::is_open() const {
  return std::find(shape.begin(), shape.end(), kToTheEnd) != shape.end();
}

bool Layout::has_padding() const {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements != row_count() * col_count() * lane_count();
}

std::optional<int> Layout::lane_axis() const {
  if (lanes.empty()) return std::nullopt;
  const LayoutParts digits = simplified(lanes);
  if (digits.size() != 1 || digits.front().divisor != 1) return std::nullopt;
  return digits.front().axis;
}

int64_t Layout::extent_with_lanes(size_t axis) const {
  const int64_t extent = shape[axis];
  TL_CHECK(extent != kToTheEnd);
  if (lane_axis() != static_cast<int>(axis)) return extent;
  return ceil_div(extent, lane_count()) * lane_count();
}

std::optional<LayoutProblem> find_problem(const Layout& layout,
                                          const std::vector<std::string>& names) {
  const auto problem = [](std::string text, std::string help) {
    return LayoutProblem{std::move(text), std::move(help), {}};
  };
  for (size_t i = 0; i < layout.shape.size(); ++i) {
    if (layout.shape[i] >= 1 || layout.shape[i] == kToTheEnd) continue;
    return problem("an extent is less than 1", "give axis " + names[i] + " a positive extent");
  }
  const LayoutParts all = all_parts(layout);
  if (!checked_count(all)) {
    return problem(fmt::format("there are more than {} elements", kMaxElements),
                   "use smaller extents");
  }
  if (const auto fault = find_fault(all, layout.shape, names)) {
    const std::string& name = names[static_cast<size_t>(fault->axis)];
    return LayoutProblem{fmt::format("the parts of axis {} {}", name, fault->problem),
                         fmt::format("cut it into digits that make up the whole axis, as {0}/4 "
                                     "and {0}%4",
                                     name),
                         fault->axis};
  }
  if (layout.object == MemoryObject::Buffer) {
    if (layout.is_open()) {
      return problem("the layout of a buffer has an extent that is known only at the call",
                     "give the tensor constant extents, or keep it in row-major order");
    }
    if (layout.row_count() == 1 && layout.lane_count() == 1) return std::nullopt;
    return problem("the layout of a buffer has rows or lanes",
                   "put all axes into cols, or make it a texture");
  }
  const bool open_lanes =
      std::any_of(layout.lanes.begin(), layout.lanes.end(),
                  [](const LayoutPart& part) { return part.extent == kToTheEnd; });
  if (open_lanes) {
    return LayoutProblem{"the number of lanes of a texel is known only at the call",
                         "cut the lanes from their axis, as in lanes=c%4",
                         {},
                         true};
  }
  if (layout.lane_count() == kTexelLanes) return std::nullopt;
  return LayoutProblem{
      fmt::format("a texel has {} lanes, not {}", kTexelLanes, layout.lane_count()),
      "make lanes take exactly four values, as in lanes=c%4",
      {},
      true};
}

bool same_places(const Layout& a, const Layout& b) {
  return a.shape == b.shape && a.object == b.object && a.padding == b.padding &&
         simplified(a.rows) == simplified(b.rows) && simplified(a.cols) == simplified(b.cols) &&
         simplified(a.lanes) == simplified(b.lanes);
}

Layout close(const Layout& open, const Shape& shape) {
  return layout_for(pattern_of(open, axis_names(open.shape.size())), shape);
}

Layout linear_layout(Shape shape) {
  const size_t rank = shape.size();
  return distribute(identity_map(std::move(shape)), {0, rank}, MemoryObject::Buffer);
}

Layout texture_layout(const Shape& shape, TextureRule rule) {
  TL_CHECK(!shape.empty());
  IndexMap map = identity_map(shape);
  if (shape.back() != kTexelLanes) map = split_axis(map, shape.size() - 1, kTexelLanes);
  const size_t outer = map.axes.size() - 1;
  return distribute(map, {row_axes(rule, outer), outer}, MemoryObject::Image2d);
}

std::vector<std::string> axis_names(size_t rank) {
  std::vector<std::string> names;
  for (size_t i = 0; i < rank; ++i) names.push_back(fmt::format("d{}", i));
  return names;
}

std::string to_string(const Layout& layout) {
  if (layout == linear_layout(layout.shape)) return "linear";
  return to_string(layout, axis_names(layout.shape.size()));
}

std::string to_string(const Layout& layout, const std::vector<std::string>& names) {
  return to_string(pattern_of(layout, names));
}

}  // namespace texloom::ir
