#include "runtime/tensor_layout.h"

#include <cstring>
#include <utility>

namespace texloom::runtime {
namespace {

std::int64_t count_of(const std::vector<LayoutDigit>& digits) {
  std::int64_t count = 1;
  for (const LayoutDigit& digit : digits) count *= digit.extent;
  return count;
}

// By number: what the digits of the number add to the index along each axis.
std::vector<std::vector<std::int64_t>> indices_by_number(const std::vector<LayoutDigit>& digits,
                                                         std::size_t rank) {
  std::vector<std::vector<std::int64_t>> result;
  const std::int64_t count = count_of(digits);
  for (std::int64_t number = 0; number < count; ++number) {
    std::vector<std::int64_t>& index = result.emplace_back(rank, 0);
    std::int64_t rest = number;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      index[digit->axis] += rest % digit->extent * digit->divisor;
      rest /= digit->extent;
    }
  }
  return result;
}

// Calls see(offset of the element, offset of the place) for all elements.
template <class See>
void for_each_element(const TensorLayout& layout, const See& see) {
  const std::size_t rank = layout.shape.size();
  const auto rows = indices_by_number(layout.rows, rank);
  const auto cols = indices_by_number(layout.cols, rank);
  const auto lanes = indices_by_number(layout.lanes, rank);
  std::size_t place = 0;
  for (const auto& row : rows) {
    for (const auto& col : cols) {
      for (const auto& lane : lanes) {
        std::int64_t offset = 0;
        bool inside = true;
        for (std::size_t axis = 0; axis < rank; ++axis) {
          const std::int64_t index = row[axis] + col[axis] + lane[axis];
          inside = inside && index < layout.shape[axis];
          offset = offset * layout.shape[axis] + index;
        }
        if (inside) see(static_cast<std::size_t>(offset), place);
        ++place;
      }
    }
  }
}

// Calls of a known size are inlined.
void copy_element(std::byte* target, const std::byte* source, std::size_t bytes) {
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

std::int64_t TensorLayout::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t TensorLayout::places() const {
  return count_of(rows) * count_of(cols) * count_of(lanes);
}

bool TensorLayout::is_row_major() const {
  return rows.empty() && lanes.empty() && cols == row_major(shape).cols;
}

TensorLayout row_major(std::vector<std::int64_t> shape) {
  TensorLayout layout;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    layout.cols.push_back({static_cast<std::uint32_t>(axis), 1, shape[axis]});
  layout.shape = std::move(shape);
  return layout;
}

void pack(const TensorLayout& layout, std::size_t element_bytes,
          std::span<const std::byte> elements, std::span<std::byte> places) {
  std::memset(places.data(), 0, places.size());
  for_each_element(layout, [&](std::size_t offset, std::size_t place) {
    copy_element(places.data() + place * element_bytes, elements.data() + offset * element_bytes,
                 element_bytes);
  });
}

void unpack(const TensorLayout& layout, std::size_t element_bytes,
            std::span<const std::byte> places, std::span<std::byte> elements) {
  for_each_element(layout, [&](std::size_t offset, std::size_t place) {
    copy_element(elements.data() + offset * element_bytes, places.data() + place * element_bytes,
                 element_bytes);
  });
}

}  // namespace texloom::runtime
