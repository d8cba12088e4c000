#include "ir/arith/simplify.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "ir/arith/linear.h"
#include "ir/visit.h"
#include "support/int128.h"

namespace texloom::ir::arith {
namespace {

class Simplifier {
 public:
  explicit Simplifier(const Ranges& ranges) : ranges_(ranges) {}

  Expr run(const Expr& e) {
    if (const auto found = done_.find(e); found != done_.end()) return found->second;
    Expr result = is_index_type(e->type) ? sum_of(e).to_expr(e->type) : other(e);
    done_.emplace(e, result);
    return result;
  }

  LinearSum sum_of(const Expr& e) {
    if (const auto found = sums_.find(e); found != sums_.end()) return found->second;
    LinearSum sum = first_sum_of(e);
    sums_.emplace(e, sum);
    return sum;
  }

 private:
  LinearSum first_sum_of(const Expr& e) {
    if (const int64_t* value = int_value(e)) return LinearSum::constant_sum(*value);
    if (const auto* var = as<Var>(e)) {
      const Interval range = ranges_.of(var);
      return range.is_point() ? LinearSum::constant_sum(range.min) : LinearSum::atom(e);
    }
    const auto* n = as<Binary>(e);
    if (n == nullptr) return LinearSum::atom(other(e));
    switch (n->op) {
      case BinaryOp::Add:
        return joined(sum_of(n->a).plus(sum_of(n->b), 1));
      case BinaryOp::Sub:
        return joined(sum_of(n->a).plus(sum_of(n->b), -1));
      case BinaryOp::Mul:
        return product(sum_of(n->a), sum_of(n->b), e);
      case BinaryOp::FloorDiv:
        return quotient(sum_of(n->a), sum_of(n->b), e);
      case BinaryOp::FloorMod:
        return remainder(sum_of(n->a), sum_of(n->b), e);
      case BinaryOp::Div:
      case BinaryOp::Mod:
        return truncating(*n, e);
      case BinaryOp::Min:
      case BinaryOp::Max:
        return extremum(*n, e);
      default:
        return LinearSum::atom(other(e));
    }
  }

  static bool is_index_type(Type type) {
    return type.is_scalar() && type.is_int() && type.bits >= 32;
  }

  Interval bounds_of(const LinearSum& sum) const { return sum.bounds(ranges_); }

  // Not linear: simplified children, and what follows for comparisons.
  Expr other(const Expr& e) {
    if (const auto* n = as<Binary>(e); n != nullptr && is_comparison(n->op))
      return comparison(*n, e);
    return map_children(e, [this](const Expr& child) { return run(child); });
  }

  Expr comparison(const Binary& n, const Expr& e) {
    if (is_index_type(n.a->type)) {
      const LinearSum a = sum_of(n.a), b = sum_of(n.b);
      if (!a.reads_memory() && !b.reads_memory()) {
        const LinearSum difference = a.plus(b, -1);
        const std::optional<bool> decided = decide(n.op, bounds_of(difference));
        if (decided) return make_bool(*decided);
        if (Expr reduced = without_factor(n.op, difference, n.a->type)) return reduced;
      }
    }
    return map_children(e, [this](const Expr& child) { return run(child); });
  }

  // Whether `d op 0` holds for all d of an interval, or for none.
  static std::optional<bool> decide(BinaryOp op, Interval d) {
    switch (op) {
      case BinaryOp::Lt:
        return d.max < 0 ? std::optional(true) : negated(d.min >= 0);
      case BinaryOp::Le:
        return d.max <= 0 ? std::optional(true) : negated(d.min > 0);
      case BinaryOp::Gt:
        return d.min > 0 ? std::optional(true) : negated(d.max <= 0);
      case BinaryOp::Ge:
        return d.min >= 0 ? std::optional(true) : negated(d.max < 0);
      case BinaryOp::Eq:
        return d == Interval::point(0) ? std::optional(true) : negated(d.min > 0 || d.max < 0);
      case BinaryOp::Ne:
        return d.min > 0 || d.max < 0 ? std::optional(true) : negated(d == Interval::point(0));
      default:
        return std::nullopt;
    }
  }
  static std::optional<bool> negated(bool refuted) {
    return refuted ? std::optional(false) : std::nullopt;
  }

  // g*T + k < 0 as T < ceil(-k / g), and so on; null where g is 1. Every term is positive in T,
  // or none is and the comparison is turned round.
  Expr without_factor(BinaryOp op, const LinearSum& difference, Type type) const {
    int64_t g = 0;
    bool positive = true, negative = true;
    for (const LinearTerm& t : difference.terms) {
      g = std::gcd(g, t.coefficient);
      positive = positive && t.coefficient > 0;
      negative = negative && t.coefficient < 0;
    }
    if (g <= 1 || positive == negative) return {};
    LinearSum terms = difference;
    terms.constant = 0;
    const int64_t floor_bound = floor_div(-difference.constant, g);
    const int64_t ceil_bound = -floor_div(difference.constant, g);
    // positive: T op bound; negative: -T has positive terms, and -T >= -bound turns round.
    const Expr t = terms.divided(positive ? g : -g).to_expr(type);
    const auto compare = [&](BinaryOp o, int64_t bound) {
      return make_binary(o, t, make_int(positive ? bound : -bound, type));
    };
    switch (op) {
      case BinaryOp::Lt:
        return compare(positive ? BinaryOp::Lt : BinaryOp::Gt, ceil_bound);
      case BinaryOp::Le:
        return compare(positive ? BinaryOp::Le : BinaryOp::Ge, floor_bound);
      case BinaryOp::Gt:
        return compare(positive ? BinaryOp::Gt : BinaryOp::Lt, floor_bound);
      case BinaryOp::Ge:
        return compare(positive ? BinaryOp::Ge : BinaryOp::Le, ceil_bound);
      default:
        return {};
    }
  }

  LinearSum product(const LinearSum& a, const LinearSum& b, const Expr& e) {
    if (b.is_constant()) return a.times(b.constant).value_or(LinearSum::atom(e));
    if (a.is_constant()) return b.times(a.constant).value_or(LinearSum::atom(e));
    return LinearSum::atom(a.to_expr(e->type) * b.to_expr(e->type));
  }

  LinearSum quotient(const LinearSum& a, const LinearSum& b, const Expr& e) {
    if (!b.is_constant() || b.constant <= 0 || a.reads_memory()) {
      return LinearSum::atom(floordiv(a.to_expr(e->type), b.to_expr(e->type)));
    }
    return quotient(a, b.constant, e->type);
  }

  LinearSum quotient(const LinearSum& a, int64_t c, Type type) {
    if (c == 1) return a;
    auto [whole, rest] = a.split_multiples(c);
    const LinearSum base = whole.divided(c);
    const Interval range = bounds_of(rest);
    if (range.bounded() && floor_div(range.min, c) == floor_div(range.max, c)) {
      return base.plus(LinearSum::constant_sum(floor_div(range.min, c)), 1);
    }
    for (const int64_t g : common_factors(rest, c)) {
      const auto [coarse, fine] = rest.split_multiples(g);
      if (bounds_of(fine).within(0, g - 1)) {
        return base.plus(quotient(coarse.divided(g), c / g, type), 1);
      }
    }
    if (const Expr* atom = rest.single_atom()) {
      if (const auto* inner = as<Binary>(*atom);
          inner != nullptr && inner->op == BinaryOp::FloorDiv) {
        const int64_t* d = int_value(inner->b);
        if (d != nullptr && *d > 0 && *d <= kMaxFactor / c) {
          return base.plus(quotient(sum_of(inner->a), *d * c, type), 1);
        }
      }
    }
    return base.plus(LinearSum::atom(floordiv(rest.to_expr(type), make_int(c, type))), 1);
  }

  LinearSum remainder(const LinearSum& a, const LinearSum& b, const Expr& e) {
    if (!b.is_constant() || b.constant <= 0 || a.reads_memory()) {
      return LinearSum::atom(floormod(a.to_expr(e->type), b.to_expr(e->type)));
    }
    return remainder(a, b.constant, e->type);
  }

  LinearSum remainder(const LinearSum& a, int64_t c, Type type) {
    if (c == 1) return LinearSum::constant_sum(0);
    const LinearSum rest = without_inner_remainders(a, c).split_multiples(c).second;
    const Interval range = bounds_of(rest);
    if (range.bounded() && floor_div(range.min, c) == floor_div(range.max, c)) {
      return rest.plus(LinearSum::constant_sum(floor_div(range.min, c) * c), -1);
    }
    for (const int64_t g : common_factors(rest, c)) {
      const auto [coarse, fine] = rest.split_multiples(g);
      if (bounds_of(fine).within(0, g - 1)) {
        const LinearSum inner = remainder(coarse.divided(g), c / g, type);
        return inner.times(g).value().plus(fine, 1);
      }
    }
    return LinearSum::atom(floormod(rest.to_expr(type), make_int(c, type)));
  }

  // b*(x % d) may stand as b*x below a remainder by c, when c divides b*d.
  LinearSum without_inner_remainders(const LinearSum& a, int64_t c) {
    LinearSum result = LinearSum::constant_sum(a.constant);
    for (const LinearTerm& term : a.terms) {
      const auto* n = as<Binary>(term.atom);
      const int64_t* d = n != nullptr && n->op == BinaryOp::FloorMod ? int_value(n->b) : nullptr;
      if (d != nullptr && (static_cast<int128>(term.coefficient) * *d) % c == 0) {
        if (const auto scaled = sum_of(n->a).times(term.coefficient)) {
          result = result.plus(*scaled, 1);
          continue;
        }
      }
      result = result.plus(LinearSum::term(term), 1);
    }
    return result;
  }

  // Candidates for g: what c shares with the coefficients, largest first.
  static std::vector<int64_t> common_factors(const LinearSum& sum, int64_t c) {
    std::vector<int64_t> factors;
    for (const LinearTerm& term : sum.terms) {
      const int64_t g = std::gcd(term.coefficient, c);
      if (g > 1 && g < c) factors.push_back(g);
    }
    std::sort(factors.rbegin(), factors.rend());
    factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
    return factors;
  }

  // Truncating and floor division agree where nothing is negative.
  LinearSum truncating(const Binary& n, const Expr& e) {
    const LinearSum a = sum_of(n.a), b = sum_of(n.b);
    if (!a.reads_memory() && bounds_of(a).min >= 0 && b.is_constant() && b.constant > 0) {
      return n.op == BinaryOp::Div ? quotient(a, b, e) : remainder(a, b, e);
    }
    return LinearSum::atom(make_binary(n.op, a.to_expr(e->type), b.to_expr(e->type)));
  }

  LinearSum extremum(const Binary& n, const Expr& e) {
    const LinearSum a = sum_of(n.a), b = sum_of(n.b);
    if (!a.reads_memory() && !b.reads_memory()) {
      const Interval d = bounds_of(a.plus(b, -1));
      const bool is_min = n.op == BinaryOp::Min;
      if (d.max <= 0) return is_min ? a : b;
      if (d.min >= 0) return is_min ? b : a;
    }
    return LinearSum::atom(make_binary(n.op, a.to_expr(e->type), b.to_expr(e->type)));
  }

  // a*(x // a) + x % a = x, and a*((x // a) % b) + x % a = x % (a*b).
  LinearSum joined(LinearSum sum) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < sum.terms.size() && !changed; ++i) {
        const auto* low = as<Binary>(sum.terms[i].atom);
        if (low == nullptr || low->op != BinaryOp::FloorMod || int_value(low->b) == nullptr)
          continue;
        for (size_t j = 0; j < sum.terms.size() && !changed; ++j) {
          changed = i != j && join_terms(sum, i, j, *low);
        }
      }
    }
    return sum;
  }

  bool join_terms(LinearSum& sum, size_t i, size_t j, const Binary& low) {
    const int64_t a = *int_value(low.b);
    const int64_t factor = sum.terms[i].coefficient;
    if (a <= 0 || sum.terms[j].coefficient != static_cast<int128>(factor) * a) return false;
    const Type type = low.type;
    const Expr high = sum.terms[j].atom;
    LinearSum whole;
    const LinearSum x = sum_of(low.a);
    if (same(LinearSum::atom(high), quotient(x, a, type))) {
      whole = x;
    } else if (const auto* mod = as<Binary>(high);
               mod != nullptr && mod->op == BinaryOp::FloorMod && int_value(mod->b) != nullptr &&
               *int_value(mod->b) > 0 && *int_value(mod->b) <= kMaxFactor / a &&
               same(sum_of(mod->a), quotient(x, a, type))) {
      whole = remainder(x, a * *int_value(mod->b), type);
    } else {
      return false;
    }
    const auto scaled = whole.times(factor);
    if (!scaled) return false;
    LinearSum rest = LinearSum::constant_sum(sum.constant);
    for (size_t k = 0; k < sum.terms.size(); ++k) {
      if (k != i && k != j) rest = rest.plus(LinearSum::term(sum.terms[k]), 1);
    }
    sum = rest.plus(*scaled, 1);
    return true;
  }

  static bool same(const LinearSum& a, const LinearSum& b) {
    const LinearSum difference = a.plus(b, -1);
    return difference.terms.empty() && difference.constant == 0;
  }

  // Divisors stay within every index type.
  static constexpr int64_t kMaxFactor = std::numeric_limits<int32_t>::max();

  const Ranges& ranges_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> done_;
  std::unordered_map<Expr, LinearSum, RefHash, RefSame> sums_;
};

}  // namespace

Expr simplify(const Expr& e, const Ranges& ranges) { return Simplifier(ranges).run(e); }

LinearSum linear_sum(const Expr& e, const Ranges& ranges) { return Simplifier(ranges).sum_of(e); }

bool prove(const Expr& condition, const Ranges& ranges) {
  return is_true(simplify(condition, ranges));
}

std::optional<int64_t> constant_difference(const Expr& a, const Expr& b, const Ranges& ranges) {
  Simplifier simplifier(ranges);
  const LinearSum difference = simplifier.sum_of(a).plus(simplifier.sum_of(b), -1);
  if (!difference.is_constant()) return std::nullopt;
  return difference.constant;
}

}  // namespace texloom::ir::arith
