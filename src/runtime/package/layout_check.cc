#include "runtime/package/layout_check.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/package/package_format.h"

namespace texloom::runtime {
namespace {

// The limit for products of extents, so that sums and products of a few limited values fit in 64
// bits.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 48;

// Stands for the extent of an axis if it is known only at the call, and for the extent of the digit
// that reaches to the end of this axis.
constexpr std::int64_t kToTheEnd = 0;

// The product of extents; nullopt if one is below 1, or the product is too large.
std::optional<std::int64_t> product_of(const std::vector<std::int64_t>& extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 1 || extent > kMaxCount / product) return std::nullopt;
    product *= extent;
  }
  return product;
}

std::optional<std::int64_t> count_of(const std::vector<LayoutDigit>& digits) {
  if (digits.size() > kMaxLayoutDigits) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const LayoutDigit& digit : digits) extents.push_back(digit.extent);
  return product_of(extents);
}

// Like count_of(), without digits that reach to the end of their axes.
std::optional<std::int64_t> known_count_of(std::vector<LayoutDigit> digits) {
  std::erase_if(digits, [](const LayoutDigit& digit) { return digit.extent == kToTheEnd; });
  return count_of(digits);
}

// The digits of an axis are those of a mixed-radix number that counts to its extent. If the extent
// of the axis is kToTheEnd, its last digit, and no other digit, reaches to the end.
Status check_digits(const TensorLayout& layout, const std::vector<std::int64_t>& extents) {
  std::vector<std::vector<LayoutDigit>> by_axis(extents.size());
  for (const auto* digits : {&layout.rows, &layout.cols, &layout.lanes}) {
    for (const LayoutDigit& digit : *digits) {
      if (digit.axis >= by_axis.size())
        return invalid_argument("its layout has a digit of axis {}, but there are {} axes",
                                digit.axis, by_axis.size());
      if (digit.divisor < 1 || digit.divisor > kMaxCount)
        return invalid_argument("its layout divides axis {} by {}; a divisor is from 1 to 2^48",
                                digit.axis, digit.divisor);
      if (digit.extent != 1) by_axis[digit.axis].push_back(digit);
    }
  }
  for (std::size_t axis = 0; axis < by_axis.size(); ++axis) {
    std::vector<LayoutDigit>& digits = by_axis[axis];
    std::sort(digits.begin(), digits.end(),
              [](const LayoutDigit& a, const LayoutDigit& b) { return a.divisor < b.divisor; });
    std::int64_t counted = 1;
    for (const LayoutDigit& digit : digits) {
      if (counted == kToTheEnd || digit.divisor != counted || digit.extent > kMaxCount / counted)
        return invalid_argument("its layout gives an index of axis {} no place, or two places",
                                axis);
      counted *= digit.extent;
    }
    if (extents[axis] == kToTheEnd && counted != kToTheEnd)
      return invalid_argument(
          "its layout has places for {} indices of axis {}, whose extent is "
          "not known",
          counted, axis);
    if (counted < extents[axis])
      return invalid_argument("its layout has places for {} of {} indices of axis {}", counted,
                              extents[axis], axis);
  }
  return {};
}

}  // namespace

Status check_layout(const TensorSpec& tensor) {
  const TensorLayout& layout = tensor.layout;
  const auto rows = count_of(layout.rows), cols = count_of(layout.cols),
             lanes = count_of(layout.lanes);
  if (!product_of(layout.shape) || !rows || !cols || !lanes || *cols > kMaxCount / *rows)
    return invalid_argument("its layout has an extent below 1, or too many places");
  TL_RETURN_IF_ERROR(check_digits(layout, layout.shape));
  const std::uint32_t element = hal::byte_size(tensor.element);
  if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
    if (*rows == texture->extent.height && *cols == texture->extent.width && *lanes == 4 &&
        element * 4 == hal::bytes_per_texel(texture->format))
      return {};
  } else if (*rows == 1 && *lanes == 1 &&
             static_cast<std::uint64_t>(*cols) * element == bytes_of(tensor.storage)) {
    return {};
  }
  return invalid_argument("its layout has {} rows of {} columns with {} lanes of {}, but it is {}",
                          *rows, *cols, *lanes, hal::to_string(tensor.element),
                          describe(tensor.storage));
}

Status check_open_layout(const TensorSpec& tensor) {
  const auto* texture = std::get_if<TextureStorage>(&tensor.storage);
  if (texture == nullptr) return invalid_argument("it has a layout, but its size is not known");
  const TensorLayout& layout = tensor.layout;
  if (!layout.shape.empty())
    return invalid_argument("its layout has a shape, but its size is not known");
  std::vector<std::int64_t> extents;
  for (const Size& extent : tensor.shape) extents.push_back(extent.constant().value_or(kToTheEnd));
  const bool empty = std::any_of(tensor.shape.begin(), tensor.shape.end(), [](const Size& extent) {
    return extent.constant().value_or(1) < 1;
  });
  if (empty || !known_count_of(layout.rows) || !known_count_of(layout.cols))
    return invalid_argument("its layout has an extent below 1, or too many places");
  TL_RETURN_IF_ERROR(check_digits(layout, extents));
  const auto lanes = count_of(layout.lanes);
  if (lanes == 4 && hal::byte_size(tensor.element) * 4 == hal::bytes_per_texel(texture->format))
    return {};
  return invalid_argument("its layout has {} lanes of {}, but it is a texture {}",
                          lanes ? fmt::to_string(*lanes) : "unknown",
                          hal::to_string(tensor.element), hal::to_string(texture->format));
}

}  // namespace texloom::runtime
