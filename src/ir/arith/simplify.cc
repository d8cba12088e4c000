#include "ir/arith/simplify.h"

#include <algorithm>
#include <unordered_map>

#include "ir/arith/match.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::ir::arith {
namespace {

// How a comparison reads from the other side.
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

// `difference op 0`, with no negative term on either side.
Expr compare_with_zero(BinaryOp op, const LinearSum& difference, Type type) {
  LinearSum positive, negative;
  for (const LinearTerm& t : difference.terms) {
    if (t.coefficient > 0) {
      positive.terms.push_back(t);
    } else {
      negative.terms.push_back({t.atom, -t.coefficient});
    }
  }
  if (positive.is_constant() && !negative.is_constant()) {
    return make_binary(mirrored(op), negative.to_expr(type), make_int(difference.constant, type));
  }
  negative.constant = -difference.constant;
  return make_binary(op, positive.to_expr(type), negative.to_expr(type));
}

// Whether what bounds() says of it, open ends included, takes account of sums that wrap: those of
// narrow types, and index arithmetic in vectors too.
bool is_bounded_soundly(const Expr& e) {
  if (!e->type.is_integer()) return false;
  return e->type.bits <= 16 || (e->type.is_int() && !reads_memory(e));
}

class Simplifier final : public Normalizer {
 public:
  Simplifier(const Ranges& ranges, const RuleTable& rules)
      : ranges_(ranges), rules_(rules), matcher_(ranges, *this) {}

  Expr run(const Expr& e) {
    if (e->size == 1) return leaf(e);  // quicker looked at than looked up
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

  bool comes_to(TermView term, const Bindings& bindings, const Expr& e) override {
    if (!is_index_type(e->type)) return false;
    const auto sum = sum_result(term, bindings, e->type);
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
    const bool index = !reads_memory(a) && !reads_memory(b);
    for (const Rule* rule : rules_.of(op)) {
      Bindings bindings;
      const bool fits =
          (index || rule->domain == Domain::Any) && matcher_.applies(*rule, {a, b}, bindings);
      if (!fits) continue;
      if (auto result = sum_result(rule->result, bindings, type)) return *std::move(result);
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

  // Rows of sums are for pairs of their terms.
  LinearSum joined(LinearSum sum, Type type) {
    while (auto shorter = without_pair(sum, type)) sum = *std::move(shorter);
    return sum;
  }

  std::optional<LinearSum> without_pair(const LinearSum& sum, Type type) {
    for (size_t b = 0; b < sum.terms.size(); ++b) {
      if (as<Binary>(sum.terms[b].atom) == nullptr) continue;
      for (size_t a = 0; a < sum.terms.size(); ++a) {
        if (a == b) continue;
        for (const Rule* rule : rules_.of(BinaryOp::Add)) {
          Bindings bindings;
          if (!matcher_.applies_to_pair(*rule, sum, a, b, bindings)) continue;
          const auto pair = sum_result(rule->result, bindings, type);
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
      if (!reads_memory(a) && !reads_memory(b)) {
        const Expr result = comparison_with_zero(n.op, a.plus(b, -1), n.a->type);
        return result ? result : operands();
      }
    }
    const Expr rebuilt = operands();
    const auto* operation = as<Binary>(rebuilt);
    if (operation == nullptr) return rebuilt;
    return ruled(rules_.of(operation->op), {operation->a, operation->b}, rebuilt);
  }

  // Null when no row applies.
  Expr comparison_with_zero(BinaryOp op, const LinearSum& difference, Type type) {
    const LinearSum zero;
    for (const Rule* rule : rules_.of(op)) {
      Bindings bindings;
      if (!matcher_.applies(*rule, {difference, zero}, bindings)) continue;
      if (Expr result = expr_result(rule->result, bindings, kBool, type)) return result;
    }
    return {};
  }

  // `self` where no row applies. Operands are simplified.
  Expr ruled(std::span<const Rule* const> rules, std::initializer_list<Subject> operands,
             const Expr& self) {
    const bool index = std::all_of(operands.begin(), operands.end(),
                                   [](const Subject& s) { return is_bounded_soundly(*s.expr); });
    for (const Rule* rule : rules) {
      Bindings bindings;
      const bool fits =
          (index || rule->domain == Domain::Any) && matcher_.applies(*rule, operands, bindings);
      if (!fits) continue;
      if (Expr result = expr_result(rule->result, bindings, self->type, {})) return result;
    }
    return self;
  }

  // -- Results. Nothing where a number is not known or does not fit its type.

  std::optional<LinearSum> sum_result(TermView t, const Bindings& b, Type type) {
    if (is_number(t)) {
      const auto value = number_of(t, b, ranges_);
      return value && fits(*value, type) ? std::optional(LinearSum::constant_sum(*value))
                                         : std::nullopt;
    }
    if (t.is(TermKind::Integer)) {
      const auto& x = b.integers[t->value];
      return x.sum ? x.sum->copy() : sum_of(*x.expr);
    }
    const auto first = sum_result(t.child(0), b, type), second = sum_result(t.child(1), b, type);
    if (!first || !second) return std::nullopt;
    return operation(t->op, *first, *second, type);
  }

  // `type` is that of the result, `operands` that of the sums in it.
  Expr expr_result(TermView t, const Bindings& b, Type type, Type operands) {
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
    if (is_comparison(t->op)) return comparison_result(t, b, type, operands);
    const Expr first = expr_result(t.child(0), b, type, operands);
    const Expr second = expr_result(t.child(1), b, type, operands);
    if (!first || !second) return {};
    return other(make_binary(t->op, first, second));
  }

  Expr comparison_result(TermView t, const Bindings& b, Type type, Type operands) {
    const auto& x = b.integers[t.child(0)->value];
    if (x.sum) {
      const auto left = sum_result(t.child(0), b, operands),
                 right = sum_result(t.child(1), b, operands);
      if (!left || !right) return {};
      const LinearSum difference = left->plus(*right, -1);
      const Expr result = comparison_with_zero(t->op, difference, operands);
      return result ? result : compare_with_zero(t->op, difference, operands);
    }
    const Type compared = (*x.expr)->type;
    const Expr left = expr_result(t.child(0), b, compared, {});
    const Expr right = expr_result(t.child(1), b, compared, {});
    if (!left || !right) return {};
    return of_type(type, make_binary(t->op, left, right));
  }

  Expr select_result(TermView t, const Bindings& b, Type type) {
    const Expr if_true = expr_result(t.child(1), b, type, {});
    const Expr if_false = expr_result(t.child(2), b, type, {});
    if (!if_true || !if_false) return {};
    const Expr result = make_select(*b.conditions[t.child(0)->value], if_true, if_false);
    return as<Select>(result) != nullptr ? other(result) : result;
  }

  static Expr of_type(Type type, const Expr& e) { return e->type == type ? e : Expr(); }

  static bool fits(int64_t value, Type type) {
    if (type.bits == 64) return true;
    const int64_t most = type.is_int() ? int64_t{1} << (type.bits - 1) : int64_t{1} << type.bits;
    return value < most && value >= (type.is_int() ? -most : 0);
  }

  const Ranges& ranges_;
  const RuleTable& rules_;
  const Matcher matcher_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> done_;
  std::unordered_map<Expr, LinearSum, RefHash, RefSame> sums_;
};

}  // namespace

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

bool prove_divides(int64_t divisor, const Expr& e, const Ranges& ranges) {
  const LinearSum sum = linear_sum(e, ranges);
  return !reads_memory(sum) && sum.modular(ranges).is_multiple_of(divisor);
}

std::optional<int64_t> constant_difference(const Expr& a, const Expr& b, const Ranges& ranges) {
  Simplifier simplifier(ranges, default_rules());
  const LinearSum difference = simplifier.sum_of(a).plus(simplifier.sum_of(b), -1);
  if (!difference.is_constant()) return std::nullopt;
  return difference.constant;
}

}  // namespace texloom::ir::arith
