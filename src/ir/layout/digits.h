// Mixed-radix digits of indices, the parts of layouts (ir/layout/layout.h) and index maps
// (ir/layout/index_map.h).
//
// A digit of axis `a` is (index[a] / divisor) % extent. A list of digits, most significant first,
// makes one number: shape (3, 8), digits d0, d1/4: (i, j) -> i * 2 + j / 4.
//
// An extent may be kToTheEnd: the extent of an axis if it is known only at the call, and the extent
// of a digit if it reaches to the end of its axis.
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

// The most elements of a tensor or rectangle: far more than any device has, far below 2^63.
inline constexpr int64_t kMaxElements = int64_t{1} << 48;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The extent of an axis that is known only at the call, or of a digit that reaches to the end of
// its axis.
inline constexpr int64_t kToTheEnd = 0;

// How many numbers the digits of known extents can make; nullopt if there are more than
// kMaxElements.
std::optional<int64_t> checked_count(const LayoutParts& parts);
// Like checked_count(), for digits that are known to make at most kMaxElements numbers. All extents
// are known.
int64_t count_of(const LayoutParts& parts);
int64_t number_of(const LayoutParts& parts, const std::vector<int64_t>& index);
// The inverse of making a number: adds the share of each digit in `number` to the index of its
// axis.
void scatter(const LayoutParts& parts, int64_t number, std::vector<int64_t>& index);

// Whether this is the most significant digit of its axis. The most significant digit needs no
// modulo, and its extent need not divide the axis. On an axis of unknown extent, only a digit to
// the end is outermost.
bool is_outermost(const LayoutPart& part, const Shape& shape);

// Drops digits of extent 1 and joins digits of one axis that follow one another. The numbers stay
// the same, and equal numbers give equal lists if the digits are exact.
LayoutParts simplified(const LayoutParts& parts);

// The digit (number / divisor) % extent of the number that `parts` make, as digits of the axes.
// nullopt if the cut is inside a digit that it does not divide, unless that digit is the most
// significant one both in the number and in its axis.
std::optional<LayoutParts> digit_of(const LayoutParts& parts, int64_t divisor, int64_t extent,
                                    const Shape& shape);

// The axis at fault, and what is wrong with its digits.
struct DigitFault {
  int axis = 0;
  std::string problem;  // completes "the parts of axis d0": "leave out d0%4"
};
// Every index has exactly one place if the digits of each axis, in whatever order, follow one
// another and reach the end of the axis. Finds the first axis whose digits do not. `names` are the
// names of the axes.
std::optional<DigitFault> find_fault(const LayoutParts& all, const Shape& shape,
                                     const std::vector<std::string>& names);

// The part as in a pattern: its extent becomes kToTheEnd if it reaches exactly to the end of its
// axis.
LayoutPart open_ended(LayoutPart part, const Shape& shape);
// The inverse of open_ended, for a list of parts.
LayoutParts with_extents(LayoutParts parts, const Shape& shape);
// "d1/4%3"; without the modulo if the part reaches to the end.
std::string to_string(const LayoutPart& part, const std::string& name);

}  // namespace texloom::ir
