#include "ir/arith/interval.h"

#include <algorithm>

#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "support/floor_division.h"
#include "support/int128.h"

namespace texloom::ir::arith {
namespace {

int64_t clamp(int128 value) {
  if (value >= Interval::kNone) return Interval::kNone;
  if (value <= -Interval::kNone) return -Interval::kNone;
  return static_cast<int64_t>(value);
}

// An unbounded end stays unbounded whatever is added to it.
int64_t add_ends(int64_t a, int64_t b, int64_t none) {
  return a == none || b == none ? none : clamp(static_cast<int128>(a) + b);
}

int64_t multiply_ends(int64_t a, int64_t b) { return clamp(static_cast<int128>(a) * b); }

// Quotients by a positive divisor, rounded down or toward zero. A quotient grows with its dividend.
Interval floor_quotient(Interval a, int64_t divisor) {
  Interval result;
  if (a.has_min()) result.min = floor_div(a.min, divisor);
  if (a.has_max()) result.max = floor_div(a.max, divisor);
  return result;
}
Interval truncated_quotient(Interval a, int64_t divisor) {
  Interval result;
  if (a.has_min()) result.min = a.min / divisor;
  if (a.has_max()) result.max = a.max / divisor;
  return result;
}

// Remainders have the divisor's sign (floor) or the dividend's (truncating). If the dividend's
// interval is between two multiples of the divisor, the remainder's interval is as wide as the
// dividend's.
Interval floor_remainder(Interval a, int64_t divisor) {
  if (a.bounded() && floor_div(a.min, divisor) == floor_div(a.max, divisor)) {
    return {floor_mod(a.min, divisor), floor_mod(a.max, divisor)};
  }
  return {0, divisor - 1};
}
Interval truncated_remainder(Interval a, int64_t divisor) {
  if (a.min >= 0) return floor_remainder(a, divisor);
  if (a.bounded() && a.min / divisor == a.max / divisor && a.max <= 0) {
    return {a.min % divisor, a.max % divisor};
  }
  return meet({1 - divisor, divisor - 1},
              {std::min<int64_t>(a.min, 0), std::max<int64_t>(a.max, 0)});
}

Interval of_type(Type type) {
  if (type.is_bool()) return {0, 1};
  if (type.is_float() || type.bits > 16) return Interval::everything();
  const int64_t values = int64_t{1} << type.bits;
  return type.is_int() ? Interval{-values / 2, values / 2 - 1} : Interval{0, values - 1};
}

// An exact result outside the type has wrapped. For types of at least 32 bits, an unbounded end
// stays unbounded: it does not mean that the result wraps.
Interval wrapped(Interval exact, Type type) {
  // An interval cannot represent values from 2^63 on.
  if (type.is_uint() && type.bits == 64) {
    return exact.min >= 0 && exact.has_max() ? exact : Interval::everything();
  }
  const Interval values = values_of(type);
  const bool narrow = of_type(type).bounded();
  const bool below = exact.min < values.min && (narrow || exact.has_min());
  const bool above = exact.max > values.max && (narrow || exact.has_max());
  return below || above ? values : exact;
}

// The result of a bitwise and is at most each operand that is not negative.
Interval masked(Interval a, Interval b) {
  if (a.min < 0 && b.min < 0) return Interval::everything();
  const int64_t by_a = a.min < 0 ? Interval::kNone : a.max,
                by_b = b.min < 0 ? Interval::kNone : b.max;
  return {0, std::min(by_a, by_b)};
}

// The quotients of an interval by a divisor whose interval begins above zero.
Interval quotient_by_positive(const Interval& a, const Interval& b) {
  Interval quotient = Interval::everything();
  if (a.has_min()) quotient.min = std::min<int64_t>(a.min, 0);
  if (a.has_max()) quotient.max = a.max < 0 ? -1 : floor_div(a.max, b.min);
  return quotient;
}

Interval remainder_by_positive(const Interval& a, const Interval& b) {
  Interval remainder = Interval::everything();
  remainder.min = 0;
  if (b.has_max()) remainder.max = b.max - 1;
  if (a.has_min() && a.min >= 0 && a.has_max())
    remainder.max = remainder.has_max() ? std::min(remainder.max, a.max) : a.max;
  return remainder;
}

Interval interval_of_binary(const Binary& n, const Ranges& ranges) {
  const Interval a = bounds(n.a, ranges);
  const Interval b = bounds(n.b, ranges);
  const bool positive_divisor = b.is_point() && b.min > 0;
  switch (n.op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Min:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case BinaryOp::Max:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case BinaryOp::FloorDiv:
      if (positive_divisor) return floor_quotient(a, b.min);
      return b.has_min() && b.min > 0 ? quotient_by_positive(a, b) : Interval::everything();
    case BinaryOp::FloorMod:
      if (positive_divisor) return floor_remainder(a, b.min);
      return b.has_min() && b.min > 0 ? remainder_by_positive(a, b) : Interval::everything();
    case BinaryOp::Div:
      return positive_divisor ? truncated_quotient(a, b.min) : Interval::everything();
    case BinaryOp::Mod:
      return positive_divisor ? truncated_remainder(a, b.min) : Interval::everything();
    case BinaryOp::BitAnd:
      return masked(a, b);
    case BinaryOp::Shr:
      return b.is_point() && b.min >= 0 && b.min < 62 ? floor_quotient(a, int64_t{1} << b.min)
                                                      : Interval::everything();
    default:
      return Interval::everything();  // the caller bounds a bool by 0 and 1
  }
}

}  // namespace

Interval values_of(Type type) {
  if (!type.is_integer() || type.bits != 32) return of_type(type);
  const int64_t values = int64_t{1} << 32;
  return type.is_int() ? Interval{-values / 2, values / 2 - 1} : Interval{0, values - 1};
}

Interval join(Interval a, Interval b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

Interval meet(Interval a, Interval b) { return {std::max(a.min, b.min), std::min(a.max, b.max)}; }

Interval operator+(Interval a, Interval b) {
  return {add_ends(a.min, b.min, -Interval::kNone), add_ends(a.max, b.max, Interval::kNone)};
}

Interval operator-(Interval a, Interval b) {
  return a + Interval{clamp(-int128{b.max}), clamp(-int128{b.min})};
}

Interval operator*(Interval a, Interval b) {
  const std::initializer_list<int64_t> ends = {
      multiply_ends(a.min, b.min), multiply_ends(a.min, b.max), multiply_ends(a.max, b.min),
      multiply_ends(a.max, b.max)};
  return {std::min(ends), std::max(ends)};
}

Interval quotient_range(Interval product, int64_t factor) {
  if (factor < 0) return quotient_range(product * Interval::point(-1), -factor);
  Interval result;
  if (product.has_min()) result.min = -floor_div(-product.min, factor);
  if (product.has_max()) result.max = floor_div(product.max, factor);
  return result;
}

Interval bounds(const Expr& e, const Ranges& ranges) {
  if (e->type.is_float()) return Interval::everything();
  return visit(
      e, [](const IntImm& n) { return wrapped(Interval::point(n.value), n.type); },
      [&](const Var& n) { return ranges.of(&n); },
      [&](const Binary& n) { return wrapped(interval_of_binary(n, ranges), n.type.element()); },
      [](const Not&) { return Interval{0, 1}; },
      [&](const Select& n) { return join(bounds(n.if_true, ranges), bounds(n.if_false, ranges)); },
      [&](const Cast& n) {
        // Values that do not fit the new type wrap.
        const Interval type = values_of(n.type.element()), inner = bounds(n.value, ranges);
        return wrapped(inner.within(type.min, type.max) ? inner : type, n.type.element());
      },
      [&](const Ramp& n) {
        const Interval base = bounds(n.base, ranges);
        return join(base, base + bounds(n.stride, ranges) * Interval::point(n.type.lanes - 1));
      },
      [&](const Broadcast& n) { return bounds(n.value, ranges); },
      [&](const Lane& n) { return bounds(n.vector, ranges); },
      [&](const Pack& n) {
        Interval all = bounds(n.elements.front(), ranges);
        for (const Expr& element : n.elements) all = join(all, bounds(element, ranges));
        return all;
      },
      [&](const auto& n) { return of_type(n.type); });
}

}  // namespace texloom::ir::arith
