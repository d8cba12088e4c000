#include "ir/arith/linear.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/arith/modular.h"
#include "ir/arith/ranges.h"
#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "support/floor_division.h"
#include "support/magnitude.h"

namespace texloom::ir::arith {

namespace {

// a + sign * b modulo 2^64, wrapping like the values themselves.
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

int64_t LinearSum::coefficient_of(const Expr& atom) const {
  for (const LinearTerm& t : terms) {
    if (ir::equal(t.atom, atom)) return t.coefficient;
  }
  return 0;
}

int64_t LinearSum::common_factor() const {
  uint64_t factor = 0;
  bool negative = true;
  for (const LinearTerm& t : terms) {
    factor = std::gcd(factor, magnitude(t.coefficient));
    negative = negative && t.coefficient < 0;
  }
  if (factor > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return 0;
  return negative ? -static_cast<int64_t>(factor) : static_cast<int64_t>(factor);
}

LinearSum LinearSum::plus(const LinearSum& other, int64_t sign) const {
  LinearSum result = *this;
  result.constant = wrapping_add(constant, sign, other.constant);
  for (const LinearTerm& t : other.terms) {
    const auto found =
        std::find_if(result.terms.begin(), result.terms.end(),
                     [&](const LinearTerm& own) { return ir::equal(own.atom, t.atom); });
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

Interval LinearSum::bounds(const Ranges& ranges) const { return SumPart(*this).bounds(ranges); }
Modular LinearSum::modular(const Ranges& ranges) const { return SumPart(*this).modular(ranges); }

Expr LinearSum::to_expr(Type type) const {
  // Puts a positive term first, so that the text reads a - b and not -b + a.
  std::vector<const LinearTerm*> order;
  for (const LinearTerm& t : terms) order.push_back(&t);
  std::stable_partition(order.begin(), order.end(),
                        [](const LinearTerm* t) { return t->coefficient > 0; });
  Expr result;
  for (const LinearTerm* t : order) {
    const int64_t magnitude =
        t->coefficient < 0 ? wrapping_add(0, -1, t->coefficient) : t->coefficient;
    const Expr scaled = t->atom * make_int(magnitude, type);
    if (!result) {
      result = t->coefficient > 0 ? scaled : t->atom * make_int(t->coefficient, type);
    } else {
      result = t->coefficient > 0 ? result + scaled : result - scaled;
    }
  }
  if (!result) return make_int(constant, type);
  if (constant < 0) return result - make_int(wrapping_add(0, -1, constant), type);
  return constant > 0 ? result + make_int(constant, type) : result;
}

bool equal(const LinearSum& a, const LinearSum& b) {
  return a.constant == b.constant && a.terms.size() == b.terms.size() &&
         std::all_of(a.terms.begin(), a.terms.end(), [&](const LinearTerm& t) {
           return t.coefficient == b.coefficient_of(t.atom);
         });
}

bool reads_memory(const Expr& e, const Ranges& ranges) {
  switch (e->kind) {
    case ExprKind::Load:
    case ExprKind::TextureLoad:
    case ExprKind::TensorRead:
    case ExprKind::Call:
    case ExprKind::ForeignCall:
      return true;
    case ExprKind::Cast: {
      const Expr& value = as<Cast>(e)->value;
      const bool widens =
          is_index_type(e->type) && is_index_type(value->type) && e->type.bits >= value->type.bits;
      return !widens || reads_memory(value, ranges);
    }
    case ExprKind::IntImm:
      return false;
    case ExprKind::Var:
      return ranges.holds_memory(e.get());
    case ExprKind::Binary: {
      const auto& n = *as<Binary>(e);
      return reads_memory(n.a, ranges) || reads_memory(n.b, ranges);
    }
    default:
      break;
  }
  bool found = false;
  for_each_child(e, [&](const Expr& child) { found = found || reads_memory(child, ranges); });
  return found;
}

bool reads_memory(const LinearSum& sum, const Ranges& ranges) {
  return std::any_of(sum.terms.begin(), sum.terms.end(),
                     [&](const LinearTerm& t) { return reads_memory(t.atom, ranges); });
}

bool reads_memory(const Expr& e) { return reads_memory(e, Ranges()); }
bool reads_memory(const LinearSum& sum) { return reads_memory(sum, Ranges()); }

// -- Parts.

template <class F>
void SumPart::for_each(const F& see) const {
  for (size_t i = 0; i < sum_->terms.size(); ++i) {
    const auto& [atom, coefficient] = sum_->terms[i];
    switch (kind_) {
      case Kind::Whole:
        see(atom, coefficient);
        break;
      case Kind::Multiples:
        if (coefficient % parameter_ == 0) see(atom, coefficient / parameter_);
        break;
      case Kind::Rest:
        if (coefficient % parameter_ != 0) see(atom, coefficient);
        break;
      case Kind::Terms:
        see(atom, coefficient / parameter_);
        break;
      case Kind::Except:
        if (static_cast<int64_t>(i) != parameter_) see(atom, coefficient);
        break;
    }
  }
}

bool SumPart::is_constant() const {
  bool found = false;
  for_each([&](const Expr&, int64_t) { found = true; });
  return !found;
}

int64_t SumPart::constant() const {
  const int64_t whole = sum_->constant;
  if (kind_ == Kind::Multiples) return floor_div(whole, parameter_);
  if (kind_ == Kind::Rest) return floor_mod(whole, parameter_);
  return kind_ == Kind::Terms ? 0 : whole;
}

Interval SumPart::bounds(const Ranges& ranges) const {
  Interval sum = Interval::point(constant());
  size_t terms = 0;
  for_each([&](const Expr& atom, int64_t coefficient) {
    sum = sum + arith::bounds(atom, ranges) * Interval::point(coefficient);
    ++terms;
  });
  if (terms > 0 && ranges.knows_sums()) sum = meet(sum, ranges.of_sum(copy()));
  return sum;
}

Modular SumPart::modular(const Ranges& ranges) const {
  Modular sum = Modular::point(constant());
  for_each([&](const Expr& atom, int64_t coefficient) {
    sum = sum + arith::modular(atom, ranges) * Modular::point(coefficient);
  });
  return sum;
}

LinearSum SumPart::copy() const {
  if (kind_ == Kind::Whole) return *sum_;
  LinearSum result = LinearSum::constant_sum(constant());
  for_each(
      [&](const Expr& atom, int64_t coefficient) { result.terms.push_back({atom, coefficient}); });
  return result;
}

}  // namespace texloom::ir::arith
