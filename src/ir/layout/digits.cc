#include "ir/layout/digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "support/check.h"

namespace texloom::ir {

std::optional<int64_t> checked_count(const LayoutParts& parts) {
  int64_t result = 1;
  for (const LayoutPart& part : parts) {
    if (part.extent == kToTheEnd) continue;
    if (part.extent > kMaxElements / result) return std::nullopt;
    result *= part.extent;
  }
  return result;
}

int64_t count_of(const LayoutParts& parts) {
  int64_t result = 1;
  for (const LayoutPart& part : parts) {
    TL_CHECK(part.extent != kToTheEnd, "a number of unknown size");
    result *= part.extent;
  }
  return result;
}

int64_t number_of(const LayoutParts& parts, const std::vector<int64_t>& index) {
  int64_t result = 0;
  for (const LayoutPart& part : parts) {
    const int64_t digit = index[static_cast<size_t>(part.axis)] / part.divisor % part.extent;
    result = result * part.extent + digit;
  }
  return result;
}

void scatter(const LayoutParts& parts, int64_t number, std::vector<int64_t>& index) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    index[static_cast<size_t>(part->axis)] += number % part->extent * part->divisor;
    number /= part->extent;
  }
}

bool is_outermost(const LayoutPart& part, const Shape& shape) {
  const int64_t extent = shape[static_cast<size_t>(part.axis)];
  if (extent == kToTheEnd || part.extent == kToTheEnd) return part.extent == kToTheEnd;
  return part.extent >= ceil_div(extent, part.divisor);
}

LayoutParts simplified(const LayoutParts& parts) {
  LayoutParts result;
  for (const LayoutPart& part : parts) {
    if (part.extent == 1) continue;
    if (!result.empty() && result.back().axis == part.axis &&
        result.back().divisor == part.divisor * part.extent) {
      result.back() = {part.axis, part.divisor, part.extent * result.back().extent};
    } else {
      result.push_back(part);
    }
  }
  return result;
}

std::optional<LayoutParts> digit_of(const LayoutParts& parts, int64_t divisor, int64_t extent,
                                    const Shape& shape) {
  TL_CHECK(divisor >= 1 && extent >= 1);
  LayoutParts result;  // least significant first; reversed at the end
  // The factors that remain to be dropped from the number, and the factors that remain to be taken
  // from it.
  int64_t below = divisor, wanted = extent;
  for (size_t i = parts.size(); i-- > 0 && wanted > 1;) {
    LayoutPart part = parts[i];
    const bool may_pad = i == 0 && is_outermost(part, shape);
    if (below >= part.extent) {
      if (below % part.extent != 0 && i > 0) return std::nullopt;
      below = i > 0 ? below / part.extent : ceil_div(below, part.extent);
      continue;
    }
    if (part.extent % below != 0 && !may_pad) return std::nullopt;
    part = {part.axis, part.divisor * below, ceil_div(part.extent, below)};
    below = 1;
    if (wanted < part.extent) {
      if (part.extent % wanted != 0 && !may_pad) return std::nullopt;
      part.extent = wanted;
      wanted = 1;
    } else if (i > 0) {
      if (wanted % part.extent != 0) return std::nullopt;
      wanted /= part.extent;
    } else {
      // This is the most significant digit: it may be larger than the number needs.
      if (wanted > part.extent && !is_outermost(part, shape)) return std::nullopt;
      part.extent = wanted;
      wanted = 1;
    }
    result.push_back(part);
  }
  if (wanted > 1) return std::nullopt;
  std::reverse(result.begin(), result.end());
  return result;
}

std::optional<DigitFault> find_fault(const LayoutParts& all, const Shape& shape,
                                     const std::vector<std::string>& names) {
  LayoutParts sorted = all;
  std::sort(sorted.begin(), sorted.end(), [](const LayoutPart& a, const LayoutPart& b) {
    return std::tie(a.axis, a.divisor, a.extent) < std::tie(b.axis, b.divisor, b.extent);
  });
  Shape reached(shape.size(), 1);
  std::string before;  // the previous part
  const auto name = [&](size_t axis) { return names[axis]; };
  const auto cut = [&](size_t axis, int64_t from) {
    return from == 1 ? name(axis) : fmt::format("{}/{}", name(axis), from);
  };
  for (const LayoutPart& part : sorted) {
    const auto axis = static_cast<size_t>(part.axis);
    // The digit is zero for every index.
    const bool beyond = shape[axis] != kToTheEnd && part.divisor >= shape[axis];
    if (part.extent == 1 || beyond) continue;
    int64_t& next = reached[axis];
    const std::string text = to_string(open_ended(part, shape), name(axis));
    if (next == kToTheEnd || part.divisor < next) {
      return DigitFault{part.axis, fmt::format("overlap: {} and {}", before, text)};
    }
    if (part.divisor % next != 0) {
      return DigitFault{part.axis,
                        fmt::format("do not follow one another: {} and {}", cut(axis, next), text)};
    }
    if (part.divisor > next) {
      return DigitFault{part.axis,
                        fmt::format("leave out {}%{}", cut(axis, next), part.divisor / next)};
    }
    if (part.extent > kMaxElements / next) return DigitFault{part.axis, "are too many"};
    next = part.extent == kToTheEnd ? kToTheEnd : next * part.extent;
    before = text;
  }
  for (size_t axis = 0; axis < reached.size(); ++axis) {
    const bool ends = reached[axis] == kToTheEnd;
    if (ends || (shape[axis] != kToTheEnd && reached[axis] >= shape[axis])) continue;
    return DigitFault{static_cast<int>(axis), "leave out " + cut(axis, reached[axis])};
  }
  return std::nullopt;
}

LayoutPart open_ended(LayoutPart part, const Shape& shape) {
  const int64_t extent = shape[static_cast<size_t>(part.axis)];
  if (part.extent == ceil_div(extent, part.divisor)) part.extent = kToTheEnd;
  return part;
}

LayoutParts with_extents(LayoutParts parts, const Shape& shape) {
  for (LayoutPart& part : parts) {
    if (part.extent != kToTheEnd) continue;
    part.extent = ceil_div(shape[static_cast<size_t>(part.axis)], part.divisor);
  }
  return parts;
}

std::string to_string(const LayoutPart& part, const std::string& name) {
  std::string text = name;
  if (part.divisor != 1) text += fmt::format("/{}", part.divisor);
  if (part.extent != kToTheEnd) text += fmt::format("%{}", part.extent);
  return text;
}

}  // namespace texloom::ir
