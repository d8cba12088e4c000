// Random shapes, index maps and layouts, the same in every run.
#pragma once

#include <algorithm>
#include <random>

#include "ir/layout/index_map.h"
#include "ir/layout/layout_fold.h"
#include "tests/ir/layout/map_steps.h"

namespace texloom::ir {

class RandomLayouts {
 public:
  RandomLayouts(uint64_t seed, int64_t max_elements) : max_elements_(max_elements), engine_(seed) {}

  int64_t from(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }

  // A shape of 1 to 6 axes, often with a last extent of 4.
  Shape shape() {
    Shape result;
    int64_t elements = 1;
    for (int64_t rank = from(1, 6); rank > 0; --rank) {
      const int64_t room = max_elements_ / elements;
      const bool lanes = rank == 1 && room >= 4 && from(0, 2) == 0;
      result.push_back(lanes ? 4 : from(1, std::max<int64_t>(1, std::min<int64_t>(room, 24))));
      elements *= result.back();
    }
    return result;
  }

  // An index map of some splits, then a permutation, then some fusions.
  IndexMap map(const Shape& shape) {
    IndexMap result = identity_map(shape);
    for (int64_t splits = from(0, 3); splits > 0; --splits) {
      const auto axis = axis_of(result);
      // A digit that is not the outermost of its axis is split only by a factor that divides it.
      const LayoutPart digit = result.axes[axis].front();
      const int64_t factor = from(1, 5);
      if (is_outermost(digit, shape) || digit.extent % factor == 0) {
        result = split_axis(std::move(result), axis, factor);
      }
    }
    result = shuffled(result);
    while (result.axes.size() > 1 && from(0, 2) == 0) {
      const int64_t last = static_cast<int64_t>(result.axes.size()) - 2;
      result = fuse_axes(std::move(result), static_cast<size_t>(from(0, last)));
    }
    return result;
  }

  // A layout of one of the scope rules, or of digits in any order.
  Layout texture(const Shape& shape) {
    if (from(0, 3) == 0) return texture_layout(shape, static_cast<TextureRule>(from(0, 2)));
    const auto lane_axis = static_cast<size_t>(from(0, static_cast<int64_t>(shape.size()) - 1));
    IndexMap digits = split_axis(identity_map(shape), lane_axis, kTexelLanes);
    const LayoutParts lanes = digits.axes[lane_axis + 1];
    digits.axes.erase(digits.axes.begin() + static_cast<ptrdiff_t>(lane_axis) + 1);
    digits = shuffled(digits);
    const auto outer = static_cast<int64_t>(digits.axes.size());
    digits.axes.push_back(lanes);
    const auto rows = static_cast<size_t>(from(0, outer));
    return distribute(digits, {rows, static_cast<size_t>(outer)}, MemoryObject::Image2d);
  }

  Layout buffer(const Shape& shape) {
    const IndexMap digits = map(shape);
    return distribute(digits, {0, digits.axes.size()}, MemoryObject::Buffer);
  }

 private:
  size_t axis_of(const IndexMap& map) {
    return static_cast<size_t>(from(0, static_cast<int64_t>(map.axes.size()) - 1));
  }
  IndexMap shuffled(const IndexMap& map) {
    std::vector<size_t> order;
    for (size_t i = 0; i < map.axes.size(); ++i) order.push_back(i);
    std::shuffle(order.begin(), order.end(), engine_);
    return permute_axes(map, order);
  }

  int64_t max_elements_;
  std::mt19937_64 engine_;
};

// Advances to the next index in row-major order; false after the last one.
inline bool advance(std::vector<int64_t>& index, const Shape& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

}  // namespace texloom::ir
