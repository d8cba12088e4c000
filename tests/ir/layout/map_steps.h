// Permutes and fuses axes to build index maps for tests.
#pragma once

#include <utility>
#include <vector>

#include "ir/layout/index_map.h"
#include "support/check.h"

namespace texloom::ir {

// Reorders the axes; `order` names each axis once.
inline IndexMap permute_axes(const IndexMap& map, const std::vector<size_t>& order) {
  TL_CHECK(order.size() == map.axes.size());
  IndexMap result{map.shape, {}};
  for (const size_t axis : order) result.axes.push_back(map.axes.at(axis));
  return result;
}

// Fuses `axis` with the next axis.
inline IndexMap fuse_axes(IndexMap map, size_t axis) {
  const LayoutParts inner = std::move(map.axes.at(axis + 1));
  map.axes.erase(map.axes.begin() + static_cast<ptrdiff_t>(axis) + 1);
  map.axes[axis].insert(map.axes[axis].end(), inner.begin(), inner.end());
  return map;
}

}  // namespace texloom::ir
