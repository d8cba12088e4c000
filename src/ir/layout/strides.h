// Strides of row-major arrays.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace texloom::ir {

// The stride of an axis in elements: the product of the extents of later axes. `times` multiplies a
// stride, at first `one`, by an extent.
template <class Stride, class Extent, class Times>
Stride row_major_stride(const std::vector<Extent>& extents, size_t axis, Stride one,
                        const Times& times) {
  Stride stride = std::move(one);
  for (size_t i = axis + 1; i < extents.size(); ++i) stride = times(stride, extents[i]);
  return stride;
}

}  // namespace texloom::ir
