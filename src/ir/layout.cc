#include "ir/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "support/check.h"

namespace texloom::ir {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t product(const std::vector<LayoutPart>& parts) {
  int64_t result = 1;
  for (const LayoutPart& part : parts) result *= part.extent;
  return result;
}

int64_t number(const std::vector<LayoutPart>& parts, const std::vector<int64_t>& index) {
  int64_t result = 0;
  for (const LayoutPart& part : parts) {
    const int64_t digit = index[static_cast<size_t>(part.axis)] / part.divisor % part.extent;
    result = result * part.extent + digit;
  }
  return result;
}

// Adds each digit's share of `value` to the index it belongs to.
void scatter(const std::vector<LayoutPart>& parts, int64_t value, std::vector<int64_t>& index) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    index[static_cast<size_t>(part->axis)] += value % part->extent * part->divisor;
    value /= part->extent;
  }
}

// The smallest fold that brings `from` under `from_limit`, by moving outer parts in front of
// `to`: for each position, all parts before it move whole and the part there is cut in two.
template <class Offer>
void folds_of(const Layout& layout, const std::vector<LayoutPart>& from,
              const std::vector<LayoutPart>& to, int64_t from_limit, const Offer& offer) {
  for (size_t cut = 0; cut < from.size(); ++cut) {
    const LayoutPart& part = from[cut];
    const std::vector<LayoutPart> inner(from.begin() + static_cast<ptrdiff_t>(cut) + 1, from.end());
    std::vector<LayoutPart> moved(from.begin(), from.begin() + static_cast<ptrdiff_t>(cut));
    const int64_t room = from_limit / product(inner);  // of the cut part that may stay
    if (room < 1) continue;
    int64_t pieces = ceil_div(part.extent, std::min(room, part.extent));
    // Only the outermost digit of an axis has room for padding: others are cut where they divide.
    const int64_t extent = layout.shape[static_cast<size_t>(part.axis)];
    while (part.divisor * part.extent < extent && part.extent % pieces != 0) ++pieces;
    const int64_t kept = ceil_div(part.extent, pieces);
    std::vector<LayoutPart> rest = inner;
    if (kept > 1) rest.insert(rest.begin(), {part.axis, part.divisor, kept});
    if (pieces > 1) moved.push_back({part.axis, part.divisor * kept, pieces});
    moved.insert(moved.end(), to.begin(), to.end());
    offer(std::move(rest), std::move(moved));
  }
}

std::string part_text(const Layout& layout, const LayoutPart& part) {
  const int64_t extent = layout.shape[static_cast<size_t>(part.axis)];
  std::string text = fmt::format("d{}", part.axis);
  if (part.divisor != 1) text += fmt::format("/{}", part.divisor);
  // An outermost digit need not be said to end where the axis does.
  if (part.extent != ceil_div(extent, part.divisor)) text += fmt::format("%{}", part.extent);
  return text;
}

std::string parts_text(const Layout& layout, const std::vector<LayoutPart>& parts) {
  std::vector<std::string> texts;
  for (const LayoutPart& part : parts) texts.push_back(part_text(layout, part));
  return fmt::format("({})", fmt::join(texts, ", "));
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

int64_t Layout::row_count() const { return product(rows); }
int64_t Layout::col_count() const { return product(cols); }
int64_t Layout::lane_count() const { return product(lanes); }

Coordinates Layout::at(const std::vector<int64_t>& index) const {
  TL_CHECK(index.size() == shape.size());
  return {number(rows, index), number(cols, index), number(lanes, index)};
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

bool Layout::fits(const ImageLimits& limits) const {
  return col_count() <= limits.max_width && row_count() <= limits.max_height;
}

Layout linear_layout(std::vector<int64_t> shape) {
  Layout layout;
  for (size_t i = 0; i < shape.size(); ++i) {
    layout.cols.push_back({static_cast<int>(i), 1, shape[i]});
  }
  layout.shape = std::move(shape);
  return layout;
}

Layout texture_layout(std::vector<int64_t> shape, TextureRule rule) {
  TL_CHECK(!shape.empty());
  Layout layout;
  layout.object = MemoryObject::Image2d;
  const int last = static_cast<int>(shape.size()) - 1;
  std::vector<LayoutPart> outer;  // what lies before the lanes
  for (int i = 0; i < last; ++i) outer.push_back({i, 1, shape[static_cast<size_t>(i)]});
  if (shape.back() != kTexelLanes) {
    outer.push_back({last, kTexelLanes, ceil_div(shape.back(), kTexelLanes)});
  }
  layout.lanes = {{last, 1, kTexelLanes}};
  const size_t count = outer.size();
  size_t row_axes = 0;
  switch (rule) {
    case TextureRule::Activation:
      row_axes = count == 0 ? 0 : count - 1;
      break;
    case TextureRule::Weight:
      row_axes = std::min<size_t>(count, 1);
      break;
    case TextureRule::Nhwc:
      row_axes = count <= 2 ? count / 2 : 2;
      break;
  }
  const auto middle = outer.begin() + static_cast<ptrdiff_t>(row_axes);
  layout.rows.assign(outer.begin(), middle);
  layout.cols.assign(middle, outer.end());
  layout.shape = std::move(shape);
  return layout;
}

std::optional<Layout> best_fold(const Layout& layout, const ImageLimits& limits) {
  if (layout.fits(limits)) return layout;
  std::optional<Layout> best;
  const auto cost = [](const Layout& l) {
    return std::tuple(l.row_count() * l.col_count(), std::max(l.row_count(), l.col_count()));
  };
  const auto offer = [&](std::vector<LayoutPart> rows, std::vector<LayoutPart> cols) {
    Layout folded = layout;
    folded.rows = std::move(rows);
    folded.cols = std::move(cols);
    if (folded.fits(limits) && (!best || cost(folded) < cost(*best))) best = std::move(folded);
  };
  folds_of(layout, layout.rows, layout.cols, limits.max_height,
           [&](auto rest, auto moved) { offer(std::move(rest), std::move(moved)); });
  folds_of(layout, layout.cols, layout.rows, limits.max_width,
           [&](auto rest, auto moved) { offer(std::move(moved), std::move(rest)); });
  return best;
}

std::string to_string(const Layout& layout) {
  if (layout == linear_layout(layout.shape)) return "linear";
  std::vector<std::string> axes;
  for (size_t i = 0; i < layout.shape.size(); ++i) axes.push_back(fmt::format("d{}", i));
  return fmt::format("{}[({}) -> rows={}, cols={}, lanes={}{}]", spelling(layout.object),
                     fmt::join(axes, ", "), parts_text(layout, layout.rows),
                     parts_text(layout, layout.cols), parts_text(layout, layout.lanes),
                     layout.padding == Padding::Zero ? ", padding=zero" : "");
}

}  // namespace texloom::ir
