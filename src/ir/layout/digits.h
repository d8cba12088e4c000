// Mixed-radix digits of indices: what layouts (ir/layout/layout.h) and index maps
// (ir/layout/index_map.h) are made of.
//
// A digit of axis `a` is (index[a] / divisor) % extent. A list of digits, most significant first,
// makes one number: shape (3, 8), digits d0, d1/4: (i, j) -> i * 2 + j / 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace texloom::ir {

using Shape = std::vector<int64_t>;

struct LayoutPart {
  int axis = 0;
  int64_t divisor = 1;
  int64_t extent = 1;

  bool operator==(const LayoutPart&) const = default;
};
using LayoutParts = std::vector<LayoutPart>;

// Of a tensor or a rectangle: far above all devices, far enough below 2^63 for products of two.
inline constexpr int64_t kMaxElements = int64_t{1} << 48;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The extent of a part that reaches to the end of its axis, whatever that is: in patterns alone.
inline constexpr int64_t kToTheEnd = 0;

// How many numbers the digits make; nothing where there are more than kMaxElements.
std::optional<int64_t> checked_count(const LayoutParts& parts);
// The same of digits that are known to be few enough.
int64_t count_of(const LayoutParts& parts);
int64_t number_of(const LayoutParts& parts, const std::vector<int64_t>& index);
// The inverse: adds each digit's share of `number` to the index it belongs to.
void scatter(const LayoutParts& parts, int64_t number, std::vector<int64_t>& index);

// Whether no digit of its axis is more significant, so that it needs no modulo, and may be cut
// where the axis ends.
bool is_outermost(const LayoutPart& part, const Shape& shape);

// The digits without those of extent 1, neighbours that follow one another in one axis joined: the
// same numbers, and equal lists where they are exact.
LayoutParts simplified(const LayoutParts& parts);

// The digit (number / divisor) % extent of the number that `parts` make, as digits of the axes.
// Nothing where the cut falls inside a digit that it does not divide, unless nothing lies above
// that digit, neither in the number nor in its axis.
std::optional<LayoutParts> digit_of(const LayoutParts& parts, int64_t divisor, int64_t extent,
                                    const Shape& shape);

// The axis at fault, and what is wrong with its digits.
struct DigitFault {
  int axis = 0;
  std::string problem;  // completes "the parts of axis d0": "leave out d0%4"
};
// The digits of each axis, wherever they stand, have to follow one another and to reach its end:
// then every index has exactly one place. The first axis of which that is not so, with the given
// names of axes.
std::optional<DigitFault> find_fault(const LayoutParts& all, const Shape& shape,
                                     const std::vector<std::string>& names);

// The part as a pattern has it: kToTheEnd where it does, and no further.
LayoutPart open_ended(LayoutPart part, const Shape& shape);
// The inverse, of all of them.
LayoutParts with_extents(LayoutParts parts, const Shape& shape);
// "d1/4%3"; without the modulo of one that reaches to the end.
std::string to_string(const LayoutPart& part, const std::string& name);

}  // namespace texloom::ir
