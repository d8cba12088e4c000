#include "ir/arith/extrema.h"

#include <algorithm>

#include "ir/arith/simplify.h"

namespace texloom::ir::arith {
namespace {

// The deepest nesting of minima and maxima that is resolved.
constexpr int kMaxExtrema = 4;

Interval bounds_at(const LinearSum& sum, const Ranges& ranges, int depth) {
  const auto extremum = [](const LinearTerm& t) {
    const auto* n = as<Binary>(t.atom);
    return n != nullptr && (n->op == BinaryOp::Min || n->op == BinaryOp::Max);
  };
  const auto term = std::find_if(sum.terms.begin(), sum.terms.end(), extremum);
  if (term == sum.terms.end() || depth == kMaxExtrema) return sum.bounds(ranges);
  const auto& n = *as<Binary>(term->atom);
  LinearSum rest = sum;
  rest.terms.erase(rest.terms.begin() + (term - sum.terms.begin()));
  const auto with = [&](const Expr& operand) {
    const auto scaled = linear_sum(operand, ranges).times(term->coefficient);
    return scaled ? bounds_at(rest.plus(*scaled, 1), ranges, depth + 1) : Interval::everything();
  };
  const Interval a = with(n.a), b = with(n.b);
  const bool is_min = (n.op == BinaryOp::Min) == (term->coefficient > 0);
  if (is_min) return {std::min(a.min, b.min), std::min(a.max, b.max)};
  return {std::max(a.min, b.min), std::max(a.max, b.max)};
}

}  // namespace

Interval bounds_of_extrema(const LinearSum& sum, const Ranges& ranges) {
  return bounds_at(sum, ranges, 0);
}

}  // namespace texloom::ir::arith
