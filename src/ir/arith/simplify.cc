#include "ir/arith/simplify.h"

#include <algorithm>
#include <unordered_map>

#include "ir/arith/match.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::ir::arith {
namespace {

// The comparison with exchanged operands.
BinaryOp mirrored(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return BinaryOp::Gt;
    case BinaryOp::Le:
      return BinaryOp::Ge;
    case BinaryOp::Gt:
      return BinaryOp::Lt;
    case BinaryOp::Ge:
      return BinaryOp::Le;
    default:
      return op;
  }
}

// Whether bounds() of the expression, unbounded ends included, accounts for sums that wrap: for
// narrow types, and for index arithmetic, also in vectors.
bool is_bounded_soundly(const Expr& e, const Ranges& ranges) {
  if (!e->type.is_integer()) return false;
  return e->type.bits <= 16 || (e->type.is_int() && !reads_memory(e, ranges));
}

bool fits(int64_t value, Type type) {
  const Interval values = values_of(type);
  return type.bits == 64 || (value >= values.min && value <= values.max);
}

}  // namespace

class Simplifier final : public Normalizer {
 public:
  Simplifier(const Ranges& ranges, const RuleTable& rules)
      : ranges_(ranges), rules_(rules), matcher_(ranges, *this) {}

  Expr run(const Expr& e) {
    if (e->size == 1) return leaf(e);  // faster than a lookup
    if (const auto found = done_.find(e); found != done_.end()) return found->second;
    Expr result = is_index_type(e->type) ? sum_of(e).to_expr(e->type) : other(e);
    done_.emplace(e, result);
    return result;
  }

  const LinearSum& sum_of(const Expr& e) override {
    if (const auto found = sums_.find(e); found != sums_.end()) return found->second;
    LinearSum sum = first_sum_of(e);
    return sums_.emplace(e, std::move(sum)).first->second;
  }

  std::optional<int64_t> constant_difference(const Expr& a, const Expr& b) {
    if (a.same_as(b)) return 0;
    const LinearSum difference = sum_of(a).plus(sum_of(b), -1);
    if (!difference.is_constant()) return std::nullopt;
    return difference.constant;
  }

  bool comes_to(TermView term, const Bindings& bindings, const Expr& e) override {
    if (!is_index_type(e->type)) return false;
    const auto sum = sum_result(term, bindings, e->type, nullptr);
    return sum && equal(*sum, LinearSum::atom(e));
  }

 private:
  Expr leaf(const Expr& e) const {
    const auto* var = is_index_type(e->type) ? as<Var>(e) : nullptr;
    const Interval range = var != nullptr ? ranges_.of(var) : Interval::everything();
    return range.is_point() ? make_int(range.min, e->type) : e;
  }

  LinearSum first_sum_of(const Expr& e) {
    if (e->size == 1) return LinearSum::atom(leaf(e));
    if (const auto* n = as<Binary>(e)) {
      return operation(n->op, sum_of(n->a), sum_of(n->b), e->type);
    }
    const Expr result = other(e);
    if (as<Binary>(result) != nullptr) return sum_of(result);
    return LinearSum::atom(result);
  }

  // -- Integers of index type.

  LinearSum operation(BinaryOp op, const LinearSum& a, const LinearSum& b, Type type) {
    if (op == BinaryOp::Add) return joined(a.plus(b, 1), type);
    if (op == BinaryOp::Sub) return joined(a.plus(b, -1), type);
    if (op == BinaryOp::Mul) return product(a, b, type);
    const bool index = !reads_memory(a, ranges_) && !reads_memory(b, ranges_);
    for (const Rule* rule : rules_.of(op)) {
      Bindings bindings;
      const bool fits =
          (index || rule->domain == Domain::Any) && matcher_.applies(*rule, {a, b}, bindings);
      if (!fits) continue;
      const LinearSum* pattern = rule->domain == Domain::Index ? &a : nullptr;
      if (auto result = sum_result(rule->result, bindings, type, pattern)) {
        return *std::move(result);
      }
    }
    return LinearSum::atom(make_binary(op, a.to_expr(type), b.to_expr(type)));
  }

  static LinearSum product(const LinearSum& a, const LinearSum& b, Type type) {
    std::optional<LinearSum> scaled;
    if (b.is_constant()) scaled = a.times(b.constant);
    if (a.is_constant()) scaled = b.times(a.constant);
    return scaled ? *std::move(scaled)
                  : LinearSum::atom(make_binary(BinaryOp::Mul, a.to_expr(type), b.to_expr(type)));
  }

  // Applies the rows of sums, which match pairs of terms.
  LinearSum joined(LinearSum sum, Type type) {
    while (true) {
      auto shorter = without_pair(sum, type);
      if (!shorter) shorter = without_remainder(sum, type);
      if (!shorter) return sum;
      sum = *std::move(shorter);
    }
  }

  // (p + x / y) * y + x % y is p * y + x: the parts of a fused axis joined again, where y is
  // symbolic. The table of rules has no row for this case, since a row cannot remove a term inside
  // a factor.
  std::optional<LinearSum> without_remainder(const LinearSum& sum, Type type) {
    for (size_t b = 0; b < sum.terms.size(); ++b) {
      const auto* remainder = as<Binary>(sum.terms[b].atom);
      if (remainder == nullptr || remainder->op != BinaryOp::FloorMod) continue;
      if (int_value(remainder->b) != nullptr || !(bounds(remainder->b, ranges_).min > 0)) continue;
      const LinearSum quotient =
          sum_of(make_binary(BinaryOp::FloorDiv, remainder->a, remainder->b));
      for (size_t a = 0; a < sum.terms.size(); ++a) {
        const auto* scaled = as<Binary>(sum.terms[a].atom);
        if (scaled == nullptr || scaled->op != BinaryOp::Mul) continue;
        if (sum.terms[a].coefficient != sum.terms[b].coefficient) continue;
        const bool is_second = equal(scaled->b, remainder->b);
        if (!is_second && !equal(scaled->a, remainder->b)) continue;
        const LinearSum& factor = sum_of(is_second ? scaled->a : scaled->b);
        const LinearSum others = factor.plus(quotient, -1);
        if (others.terms.size() + quotient.terms.size() != factor.terms.size()) continue;
        const LinearSum pair =
            product(others, sum_of(remainder->b), type).plus(sum_of(remainder->a), 1);
        const auto whole = pair.times(sum.terms[b].coefficient);
        if (!whole) continue;
        LinearSum rest = LinearSum::constant_sum(sum.constant);
        for (size_t k = 0; k < sum.terms.size(); ++k) {
          if (k != a && k != b) rest.terms.push_back(sum.terms[k]);
        }
        return rest.plus(*whole, 1);
      }
    }
    return std::nullopt;
  }

  std::optional<LinearSum> without_pair(const LinearSum& sum, Type type) {
    for (size_t b = 0; b < sum.terms.size(); ++b) {
      if (as<Binary>(sum.terms[b].atom) == nullptr) continue;
      for (size_t a = 0; a < sum.terms.size(); ++a) {
        if (a == b) continue;
        for (const Rule* rule : rules_.of(BinaryOp::Add)) {
          Bindings bindings;
          if (!matcher_.applies_to_pair(*rule, sum, a, b, bindings)) continue;
          const auto pair = sum_result(rule->result, bindings, type, nullptr);
          const auto scaled = pair ? pair->times(sum.terms[b].coefficient) : std::nullopt;
          if (!scaled) continue;
          LinearSum rest = LinearSum::constant_sum(sum.constant);
          for (size_t k = 0; k < sum.terms.size(); ++k) {
            if (k != a && k != b) rest.terms.push_back(sum.terms[k]);
          }
          return rest.plus(*scaled, 1);
        }
      }
    }
    return std::nullopt;
  }

  // -- Everything else.

  Expr other(const Expr& e) {
    if (const auto* n = as<Binary>(e); n != nullptr && is_comparison(n->op)) {
      return comparison(*n, e);
    }
    const Expr rebuilt = map_children(e, [this](const Expr& child) { return run(child); });
    if (const auto* n = as<Binary>(rebuilt); n != nullptr && !n->type.is_float()) {
      return ruled(rules_.of(n->op), {n->a, n->b}, rebuilt);
    }
    if (const auto* n = as<Not>(rebuilt)) return ruled(rules_.of_not(), {n->value}, rebuilt);
    if (const auto* n = as<Select>(rebuilt)) {
      return ruled(rules_.of_select(), {n->condition, n->if_true, n->if_false}, rebuilt);
    }
    return rebuilt;
  }

  Expr comparison(const Binary& n, const Expr& e) {
    const auto operands = [&] {
      return map_children(e, [this](const Expr& child) { return run(child); });
    };
    if (is_index_type(n.a->type)) {
      const LinearSum &a = sum_of(n.a), &b = sum_of(n.b);
      if (!reads_memory(a, ranges_) && !reads_memory(b, ranges_)) {
        const Expr result = comparison_with_zero(n.op, a.plus(b, -1), n.a->type);
        return result ? result : operands();
      }
    }
    const Expr rebuilt = operands();
    const auto* operation = as<Binary>(rebuilt);
    if (operation == nullptr) return rebuilt;
    return ruled(rules_.of(operation->op), {operation->a, operation->b}, rebuilt);
  }

  // The result of the first row that applies to `difference op 0`; null if none does.
  Expr comparison_with_zero(BinaryOp op, const LinearSum& difference, Type type) {
    const LinearSum zero;
    for (const Rule* rule : rules_.of(op)) {
      Bindings bindings;
      if (!matcher_.applies(*rule, {difference, zero}, bindings)) continue;
      Expr result = is_number(rule->result)
                        ? expr_result(rule->result, bindings, kBool, rule->domain)
                        : comparison_result(rule->result, bindings, difference, type);
      if (result) return result;
    }
    return {};
  }

  // The result of the first row that applies; `self` if none does. Operands are simplified already.
  Expr ruled(std::span<const Rule* const> rules, std::initializer_list<Subject> operands,
             const Expr& self) {
    const bool index = std::all_of(operands.begin(), operands.end(), [&](const Subject& s) {
      return is_bounded_soundly(*s.expr, ranges_);
    });
    for (const Rule* rule : rules) {
      Bindings bindings;
      const bool fits =
          (index || rule->domain == Domain::Any) && matcher_.applies(*rule, operands, bindings);
      if (!fits) continue;
      if (Expr result = expr_result(rule->result, bindings, self->type, rule->domain)) {
        return result;
      }
    }
    return self;
  }

  // -- Results. nullopt or null if a number is unknown or does not fit its type, or if a row of
  // Index would make a sum that may overflow although no sum of the pattern may.

  // Whether a sum that a row makes of `pattern` may overflow the type: its value, or one of its
  // products. A value without known bounds does not count if the pattern has it too, since the row
  // did not introduce it.
  bool may_overflow(const LinearSum& sum, const LinearSum& pattern, Type type) const {
    if (sum.single_atom() != nullptr) return false;
    const Interval values = values_of(type);
    const auto leaves = [&](const Interval& i) {
      return (i.has_min() && i.min < values.min) || (i.has_max() && i.max > values.max);
    };
    const auto overflows = [&](const LinearTerm& t) {
      const Interval product = bounds(t.atom, ranges_) * Interval::point(t.coefficient);
      if (product.bounded() || t.coefficient == 1 || t.coefficient == -1) return leaves(product);
      return leaves(product) || pattern.coefficient_of(t.atom) / t.coefficient == 0;
    };
    if (!fits(sum.constant, type) || std::any_of(sum.terms.begin(), sum.terms.end(), overflows)) {
      return true;
    }
    const Interval whole = sum.bounds(ranges_);
    return leaves(whole) || (!whole.bounded() && pattern.bounds(ranges_).bounded());
  }

  // `pattern` is the sum against which a row of Index was matched; null for rows of Any.
  std::optional<LinearSum> sum_result(TermView t, const Bindings& b, Type type,
                                      const LinearSum* pattern) {
    const auto checked = [&](LinearSum sum) {
      const bool wrong = pattern != nullptr && may_overflow(sum, *pattern, type);
      return wrong ? std::nullopt : std::optional(std::move(sum));
    };
    if (is_number(t)) {
      const auto value = number_of(t, b, ranges_);
      return value && fits(*value, type) ? std::optional(LinearSum::constant_sum(*value))
                                         : std::nullopt;
    }
    if (t.is(TermKind::Integer)) {
      const auto& bound = b.integers[t->value];
      if (!bound.sum) return sum_of(*bound.expr);
      return bound.sum->is_whole() ? bound.sum->copy() : checked(bound.sum->copy());
    }
    const auto first = sum_result(t.child(0), b, type, pattern);
    const auto second = sum_result(t.child(1), b, type, pattern);
    if (!first || !second) return std::nullopt;
    return checked(operation(t->op, *first, *second, type));
  }

  Expr expr_result(TermView t, const Bindings& b, Type type, Domain domain) {
    if (is_number(t)) {
      const auto value = number_of(t, b, ranges_);
      if (!value || !fits(*value, type)) return {};
      return make_broadcast(make_int(*value, type.element()), type.lanes);
    }
    switch (t->kind) {
      case TermKind::Condition:
        return of_type(type, *b.conditions[t->value]);
      case TermKind::Value:
        return of_type(type, *b.values[t->value]);
      case TermKind::Integer:
        return of_type(type, *b.integers[t->value].expr);
      case TermKind::Select:
        return select_result(t, b, type);
      default:
        break;
    }
    const bool compares = is_comparison(t->op);
    const Type operand = compares ? (*b.integers[t.child(0)->value].expr)->type : type;
    const Expr first = expr_result(t.child(0), b, operand, domain);
    const Expr second = expr_result(t.child(1), b, operand, domain);
    if (!first || !second) return {};
    if (compares) return of_type(type, make_binary(t->op, first, second));
    // The only sums that rows of Index make without matching sums are differences.
    if (t->op == BinaryOp::Sub && domain == Domain::Index) {
      const Interval values = values_of(type.element());
      const Interval exact = bounds(first, ranges_) - bounds(second, ranges_);
      if (!exact.within(values.min, values.max)) return {};
    }
    return other(make_binary(t->op, first, second));
  }

  // The result of a row for a comparison, whose sums come from `pattern`.
  Expr comparison_result(TermView t, const Bindings& b, const LinearSum& pattern, Type type) {
    const auto left = sum_result(t.child(0), b, type, nullptr);
    const auto right = sum_result(t.child(1), b, type, nullptr);
    if (!left || !right) return {};
    const LinearSum difference = left->plus(*right, -1);
    const Expr result = comparison_with_zero(t->op, difference, type);
    return result ? result : compare_with_zero(t->op, difference, pattern, type);
  }

  // `difference op 0`, with no negative term on either side. None of its numbers is -2^63, since
  // rows of comparisons divide.
  Expr compare_with_zero(BinaryOp op, const LinearSum& difference, const LinearSum& pattern,
                         Type type) const {
    LinearSum positive, negative;
    for (const LinearTerm& t : difference.terms) {
      if (t.coefficient > 0) {
        positive.terms.push_back(t);
      } else {
        negative.terms.push_back({t.atom, -t.coefficient});
      }
    }
    const bool mirror = positive.is_constant() && !negative.is_constant();
    if (mirror) {
      positive.constant = difference.constant;
    } else {
      negative.constant = -difference.constant;
    }
    if (may_overflow(positive, pattern, type) || may_overflow(negative, pattern, type)) return {};
    const Expr left = positive.to_expr(type), right = negative.to_expr(type);
    return mirror ? make_binary(mirrored(op), right, left) : make_binary(op, left, right);
  }

  Expr select_result(TermView t, const Bindings& b, Type type) {
    const Expr if_true = expr_result(t.child(1), b, type, Domain::Any);
    const Expr if_false = expr_result(t.child(2), b, type, Domain::Any);
    if (!if_true || !if_false) return {};
    const Expr result = make_select(*b.conditions[t.child(0)->value], if_true, if_false);
    return as<Select>(result) != nullptr ? other(result) : result;
  }

  static Expr of_type(Type type, const Expr& e) { return e->type == type ? e : Expr(); }

  const Ranges& ranges_;
  const RuleTable& rules_;
  const Matcher matcher_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> done_;
  std::unordered_map<Expr, LinearSum, RefHash, RefSame> sums_;
};

Expr simplify(const Expr& e, const Ranges& ranges, const RuleTable& rules) {
  return Simplifier(ranges, rules).run(e);
}

LinearSum linear_sum(const Expr& e, const Ranges& ranges) {
  return Simplifier(ranges, default_rules()).sum_of(e);
}

bool prove(const Expr& condition, const Ranges& ranges) {
  return is_true(simplify(condition, ranges));
}

bool prove_equal(const Expr& a, const Expr& b, const Ranges& ranges) {
  return constant_difference(a, b, ranges) == 0;
}

std::optional<int64_t> constant_difference(const Expr& a, const Expr& b, const Ranges& ranges) {
  return Simplifier(ranges, default_rules()).constant_difference(a, b);
}

Simplification::Simplification(const Ranges& ranges)
    : simplifier_(std::make_unique<Simplifier>(ranges, default_rules())) {}

Simplification::~Simplification() = default;

Expr Simplification::simplify(const Expr& e) { return simplifier_->run(e); }

std::optional<int64_t> Simplification::constant_difference(const Expr& a, const Expr& b) {
  return simplifier_->constant_difference(a, b);
}

}  // namespace texloom::ir::arith
