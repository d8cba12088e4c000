#include "compile/layout_copy.h"

#include <cstring>
#include <vector>

#include "support/check.h"

namespace texloom::compile {
namespace {

// Maps every number of a part list to its index along each axis.
std::vector<std::vector<int64_t>> indices_by_number(const ir::Layout& layout,
                                                    const ir::LayoutParts& parts, int64_t count) {
  std::vector<std::vector<int64_t>> result;
  for (int64_t number = 0; number < count; ++number) {
    std::vector<int64_t> index(layout.shape.size(), 0);
    scatter(parts, number, index);
    result.push_back(std::move(index));
  }
  return result;
}

// Calls see(offset of the element, offset of the place) for all elements.
template <class See>
void for_each_element(const ir::Layout& layout, const See& see) {
  const auto rows = indices_by_number(layout, layout.rows, layout.row_count());
  const auto cols = indices_by_number(layout, layout.cols, layout.col_count());
  const auto lanes = indices_by_number(layout, layout.lanes, layout.lane_count());
  int64_t place = 0;
  for (const auto& row : rows) {
    for (const auto& col : cols) {
      for (const auto& lane : lanes) {
        int64_t offset = 0;
        bool inside = true;
        for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
          const int64_t index = row[axis] + col[axis] + lane[axis];
          inside = inside && index < layout.shape[axis];
          offset = offset * layout.shape[axis] + index;
        }
        if (inside) see(offset, place);
        ++place;
      }
    }
  }
}

void copy_element(std::byte* target, const std::byte* source, size_t bytes) {
  switch (bytes) {
    case 1:
      *target = *source;
      break;
    case 2:
      std::memcpy(target, source, 2);
      break;
    case 4:
      std::memcpy(target, source, 4);
      break;
    default:
      std::memcpy(target, source, bytes);
  }
}

}  // namespace

void pack_elements(const ir::Layout& layout, size_t element_bytes,
                   std::span<const std::byte> elements, std::span<std::byte> places) {
  std::memset(places.data(), 0, places.size());
  for_each_element(layout, [&](int64_t offset, int64_t place) {
    copy_element(places.data() + static_cast<size_t>(place) * element_bytes,
                 elements.data() + static_cast<size_t>(offset) * element_bytes, element_bytes);
  });
}

void unpack_elements(const ir::Layout& layout, size_t element_bytes,
                     std::span<const std::byte> places, std::span<std::byte> elements) {
  for_each_element(layout, [&](int64_t offset, int64_t place) {
    copy_element(elements.data() + static_cast<size_t>(offset) * element_bytes,
                 places.data() + static_cast<size_t>(place) * element_bytes, element_bytes);
  });
}

}  // namespace texloom::compile
