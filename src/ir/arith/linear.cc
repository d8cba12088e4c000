#include "ir/arith/linear.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::ir::arith {

namespace {

// a + sign * b modulo 2^64, as the values themselves wrap.
int64_t wrapping_add(int64_t a, int64_t sign, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(sign) * static_cast<uint64_t>(b));
}

}  // namespace

LinearSum LinearSum::atom(Expr e) {
  if (const int64_t* value = int_value(e)) return constant_sum(*value);
  return {{{std::move(e), 1}}, 0};
}

const Expr* LinearSum::single_atom() const {
  const bool single = terms.size() == 1 && constant == 0 && terms.front().coefficient == 1;
  return single ? &terms.front().atom : nullptr;
}

bool LinearSum::reads_memory() const {
  bool found = false;
  for (const LinearTerm& t : terms) {
    walk(
        t.atom, [&](const Load&) { found = true; }, [&](const TextureLoad&) { found = true; },
        [&](const TensorRead&) { found = true; }, [&](const Cast&) { found = true; },
        [&](const Call&) { found = true; });
  }
  return found;
}

LinearSum LinearSum::plus(const LinearSum& other, int64_t sign) const {
  LinearSum result = *this;
  result.constant = wrapping_add(constant, sign, other.constant);
  for (const LinearTerm& t : other.terms) {
    const auto found = std::find_if(result.terms.begin(), result.terms.end(),
                                    [&](const LinearTerm& own) { return equal(own.atom, t.atom); });
    if (found == result.terms.end()) {
      result.terms.push_back({t.atom, wrapping_add(0, sign, t.coefficient)});
    } else {
      found->coefficient = wrapping_add(found->coefficient, sign, t.coefficient);
      if (found->coefficient == 0) result.terms.erase(found);
    }
  }
  return result;
}

std::optional<LinearSum> LinearSum::times(int64_t factor) const {
  if (factor == 0) return constant_sum(0);
  LinearSum result = *this;
  if (__builtin_mul_overflow(constant, factor, &result.constant)) return std::nullopt;
  for (LinearTerm& t : result.terms) {
    if (__builtin_mul_overflow(t.coefficient, factor, &t.coefficient)) return std::nullopt;
  }
  return result;
}

std::pair<LinearSum, LinearSum> LinearSum::split_multiples(int64_t c) const {
  LinearSum whole = constant_sum(floor_div(constant, c) * c);
  LinearSum rest = constant_sum(constant - whole.constant);
  for (const LinearTerm& t : terms) (t.coefficient % c == 0 ? whole : rest).terms.push_back(t);
  return {std::move(whole), std::move(rest)};
}

LinearSum LinearSum::divided(int64_t c) const {
  LinearSum result = *this;
  result.constant /= c;
  for (LinearTerm& t : result.terms) t.coefficient /= c;
  return result;
}

Interval LinearSum::bounds(const Ranges& ranges) const {
  Interval sum = Interval::point(constant);
  for (const LinearTerm& t : terms) {
    sum = sum + arith::bounds(t.atom, ranges) * Interval::point(t.coefficient);
  }
  return sum;
}

Expr LinearSum::to_expr(Type type) const {
  // A positive term first, so that the text reads a - b and not -b + a.
  std::vector<const LinearTerm*> order;
  for (const LinearTerm& t : terms) order.push_back(&t);
  std::stable_partition(order.begin(), order.end(),
                        [](const LinearTerm* t) { return t->coefficient > 0; });
  Expr result;
  for (const LinearTerm* t : order) {
    const int64_t magnitude = t->coefficient < 0 ? -t->coefficient : t->coefficient;
    const Expr scaled = t->atom * make_int(magnitude, type);
    if (!result) {
      result = t->coefficient > 0 ? scaled : t->atom * make_int(t->coefficient, type);
    } else {
      result = t->coefficient > 0 ? result + scaled : result - scaled;
    }
  }
  if (!result) return make_int(constant, type);
  if (constant < 0) return result - make_int(-constant, type);
  return constant > 0 ? result + make_int(constant, type) : result;
}

}  // namespace texloom::ir::arith
