#include "runtime/plan/tensor_layout.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace texloom::runtime {
namespace {

struct Strided {
  std::int64_t first, step;  // in elements
};

// A digit of the places: one step of the digit is `divisor` indices along its axis, which are
// `step` elements of the row-major array.
struct PlaceDigit {
  std::uint32_t axis;
  std::int64_t divisor;
  std::int64_t extent;
  std::int64_t step;
};

// The places in their order, as runs of equal steps through the elements of the array.
class PlaceRuns {
 public:
  explicit PlaceRuns(const TensorLayout& layout) : shape_(layout.shape), index_(shape_.size(), 0) {
    std::vector<std::int64_t> strides(shape_.size(), 1);
    for (std::size_t axis = shape_.size(); axis > 1; --axis)
      strides[axis - 2] = strides[axis - 1] * shape_[axis - 1];
    std::vector<std::int64_t> covered(shape_.size(), 1);
    for (const auto* digits : {&layout.rows, &layout.cols, &layout.lanes}) {
      for (const LayoutDigit& digit : *digits) {
        covered[digit.axis] *= digit.extent;
        digits_.push_back(
            {digit.axis, digit.divisor, digit.extent, digit.divisor * strides[digit.axis]});
      }
    }
    has_padding_ = covered != shape_;
    if (!has_padding_) join_digits();
    if (digits_.empty()) digits_.push_back({0, 1, 1, 1});  // a single element
    places_.resize(digits_.size(), 1);
    for (std::size_t i = digits_.size(); i > 1; --i)
      places_[i - 2] = places_[i - 1] * digits_[i - 1].extent;
  }

  // Calls see(elements, first place, count) for each run of array elements at neighboring places.
  template <class See>
  void for_each_run(const See& see) {
    visit(0, 0, 0, see);
  }

 private:
  // Joins neighboring digits whose steps equal those of a single digit. Without padding, the axes
  // of the digits do not matter.
  void join_digits() {
    std::vector<PlaceDigit> joined;
    for (const PlaceDigit& digit : digits_) {
      if (!joined.empty() && joined.back().step == digit.step * digit.extent) {
        joined.back().extent *= digit.extent;
        joined.back().step = digit.step;
      } else {
        joined.push_back(digit);
      }
    }
    digits_ = std::move(joined);
  }

  // The number of values of a digit that stay within its axis; values beyond are padding.
  std::int64_t count_inside(const PlaceDigit& digit) const {
    if (!has_padding_) return digit.extent;
    const std::int64_t left = shape_[digit.axis] - index_[digit.axis];
    return std::min(digit.extent, (left + digit.divisor - 1) / digit.divisor);
  }

  template <class See>
  void visit(std::size_t depth, std::int64_t offset, std::int64_t place, const See& see) {
    const PlaceDigit& digit = digits_[depth];
    const std::int64_t count = count_inside(digit);
    if (depth + 1 == digits_.size()) {
      see(Strided{offset, digit.step}, place, count);
      return;
    }
    for (std::int64_t value = 0; value < count; ++value) {
      visit(depth + 1, offset + value * digit.step, place + value * places_[depth], see);
      if (has_padding_) index_[digit.axis] += digit.divisor;
    }
    if (has_padding_) index_[digit.axis] -= count * digit.divisor;
  }

  const std::vector<std::int64_t>& shape_;
  std::vector<std::int64_t> index_;  // by axis: the index that visit() has reached
  bool has_padding_ = false;
  std::vector<PlaceDigit> digits_;    // at least one
  std::vector<std::int64_t> places_;  // by digit: the places that one step skips
};

// Copies of a known size are inlined.
template <std::size_t kBytes>
void copy_run(std::byte* target, std::ptrdiff_t target_step, const std::byte* source,
              std::ptrdiff_t source_step, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(target + i * target_step, source + i * source_step, kBytes);
}

// Copies `count` elements of `bytes` bytes.
void copy(std::span<std::byte> target, Strided to, std::span<const std::byte> source, Strided from,
          std::int64_t count, std::size_t bytes) {
  const auto size = static_cast<std::ptrdiff_t>(bytes);
  std::byte* out = target.data() + to.first * size;
  const std::byte* in = source.data() + from.first * size;
  if (to.step == 1 && from.step == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(count) * bytes);
    return;
  }
  const std::ptrdiff_t out_step = to.step * size;
  const std::ptrdiff_t in_step = from.step * size;
  switch (bytes) {
    case 1:
      return copy_run<1>(out, out_step, in, in_step, count);
    case 2:
      return copy_run<2>(out, out_step, in, in_step, count);
    case 4:
      return copy_run<4>(out, out_step, in, in_step, count);
    case 8:
      return copy_run<8>(out, out_step, in, in_step, count);
    default:
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(out + i * out_step, in + i * in_step, bytes);
  }
}

constexpr std::int64_t kMaxCount = std::numeric_limits<std::uint32_t>::max();

// Whether the digits make at most kMaxCount numbers.
bool are_countable(const std::vector<LayoutDigit>& digits) {
  std::int64_t count = 1;
  for (const LayoutDigit& digit : digits) {
    if (digit.extent > kMaxCount / count) return false;
    count *= digit.extent;
  }
  return true;
}

}  // namespace

std::int64_t number_count(const std::vector<LayoutDigit>& digits) {
  std::int64_t count = 1;
  for (const LayoutDigit& digit : digits) count *= digit.extent;
  return count;
}

std::optional<TensorLayout> with_shape(TensorLayout layout, std::vector<std::int64_t> shape) {
  for (auto* digits : {&layout.rows, &layout.cols, &layout.lanes}) {
    for (LayoutDigit& digit : *digits) {
      if (digit.extent == 0) digit.extent = (shape[digit.axis] - 1) / digit.divisor + 1;
    }
    if (!are_countable(*digits)) return std::nullopt;
  }
  layout.shape = std::move(shape);
  return layout;
}

std::int64_t TensorLayout::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t TensorLayout::places() const {
  return number_count(rows) * number_count(cols) * number_count(lanes);
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
  if (layout.places() != layout.elements()) std::memset(places.data(), 0, places.size());
  PlaceRuns(layout).for_each_run([&](Strided of_elements, std::int64_t place, std::int64_t count) {
    copy(places, {place, 1}, elements, of_elements, count, element_bytes);
  });
}

void unpack(const TensorLayout& layout, std::size_t element_bytes,
            std::span<const std::byte> places, std::span<std::byte> elements) {
  PlaceRuns(layout).for_each_run([&](Strided of_elements, std::int64_t place, std::int64_t count) {
    copy(elements, of_elements, places, {place, 1}, count, element_bytes);
  });
}

}  // namespace texloom::runtime
