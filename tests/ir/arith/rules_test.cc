// Every row of the rule table is correct on random values, and some example needs it.

#include "ir/arith/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "ir/arith/match.h"
#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "tests/ir/arith/random_index.h"

namespace texloom::ir::arith {
namespace {

// -- Random values.

// Values for the wildcards of a rule, and the expressions that its terms become.
class Instance {
 public:
  Instance(const Rule& rule, RandomIndex& random) : random_(random) {
    random.draw_variables(random.from(0, 1) == 0);
    for (Expr& e : integers_) e = rule.domain == Domain::Any ? any_integer() : random.integer(2);
    for (Expr& e : values_) e = any_integer();
    for (Expr& e : conditions_) e = random.boolean(1);
    for (size_t i = 0; i < integers_.size(); ++i) {
      bindings_.integers[i].expr = &integers_[i];
      bindings_.values[i] = &values_[i];
      bindings_.constants[i] =
          random.one_of<int64_t>({-12, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24});
    }
    for (size_t i = 0; i < conditions_.size(); ++i) bindings_.conditions[i] = &conditions_[i];
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  std::optional<int64_t> number(const Term& t) const { return number(TermView(t)); }

  // Returns the term as an expression, or null if the value of a number in the term is unknown.
  Expr build(TermView t, bool as_bool = false) const {
    const auto child = [&](int number, bool is_bool) { return build(t.child(number), is_bool); };
    if (is_number(t)) {
      const auto value = number(t);
      return !value ? Expr() : as_bool ? make_bool(*value != 0) : make_int(*value);
    }
    const auto index = static_cast<size_t>(t->value);
    switch (t->kind) {
      case TermKind::Integer:
        return integers_[index];
      case TermKind::Condition:
        return conditions_[index];
      case TermKind::Value:
        return values_[index];
      case TermKind::Simplified:
        return child(0, as_bool);
      case TermKind::Not:
        return make_not(child(0, true));
      case TermKind::Select: {
        const bool of_bools =
            t.child(1).is(TermKind::Condition) || t.child(2).is(TermKind::Condition);
        return make_select(child(0, true), child(1, of_bools), child(2, of_bools));
      }
      default: {
        const bool of_bools = is_logical(t->op);
        const Expr a = child(0, of_bools), b = child(1, of_bools);
        if (!a || !b) return {};
        return make_binary(t->op, a, b);
      }
    }
  }

  const Values& draw_values() {
    values_of_ = random_.draw_values();
    for (const Expr& var : extremes_) {
      values_of_[var.get()] = random_.one_of<int64_t>(
          {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), -1, 0, 1,
           random_.from(-50, 50), random_.from(-2'000'000'000, 2'000'000'000)});
    }
    return values_of_;
  }

 private:
  std::optional<int64_t> number(TermView t) const {
    return number_of(t, bindings_, random_.ranges());
  }

  // Any int32 value, or a variable with a range.
  Expr any_integer() {
    if (random_.from(0, 2) == 0) return random_.one_of(random_.variables());
    extremes_.push_back(make_var("m"));
    return extremes_.back();
  }

  RandomIndex& random_;
  std::array<Expr, 3> integers_, values_;
  std::array<Expr, 2> conditions_;
  Exprs extremes_;
  Values values_of_;
  Bindings bindings_;
};

// A rule of domain `Any` keeps every int32 value, whether it wraps or not.
TEST(Rules, KeepTheValue) {
  RandomIndex random(5);
  for (const Rule& rule : all_rules()) {
    if (rule.domain == Domain::Index) continue;
    int compared = 0;
    for (int n = 0; n < 60'000 && compared < 600; ++n) {
      Instance instance(rule, random);
      if (instance.number(rule.guard).value_or(0) == 0) continue;
      const Expr result = instance.build(rule.result, TermView(rule.pattern)->op >= BinaryOp::Eq ||
                                                          TermView(rule.pattern).is(TermKind::Not));
      if (!result) continue;
      const Expr pattern = instance.build(rule.pattern);
      for (int s = 0; s < 8; ++s) {
        const Values& values = instance.draw_values();
        const auto before = evaluate(pattern, values, int64_t{1} << 60);
        if (!before) continue;
        ++compared;
        const auto after = evaluate(result, values, int64_t{1} << 60);
        ASSERT_TRUE(after && static_cast<int32_t>(*after) == static_cast<int32_t>(*before))
            << to_string(rule) << "\n"
            << to_string(pattern) << " = " << *before << "\n"
            << to_string(result) << " = " << after.value_or(0);
      }
    }
    EXPECT_GE(compared, 300) << to_string(rule);
  }
}

// If nothing in the pattern overflows int32, nothing in the result of an `Index` rule does either:
// pattern and result have the same value in int32 arithmetic. The table holds only this rule.
TEST(Rules, DoNotOverflow) {
  const RuleTable none({});
  RandomIndex random(7);
  for (const Rule& rule : all_rules()) {
    if (rule.domain == Domain::Any) continue;
    const RuleTable alone({&rule, 1});
    int compared = 0;
    for (int n = 0; n < 30'000 && compared < 400; ++n) {
      Instance instance(rule, random);
      if (instance.number(rule.guard).value_or(0) == 0) continue;
      const Expr pattern = instance.build(rule.pattern);
      if (!pattern) continue;
      const Expr before = simplify(pattern, random.ranges(), none);
      const Expr after = simplify(pattern, random.ranges(), alone);
      if (equal(before, after)) continue;
      for (int s = 0; s < 8; ++s) {
        const Values& values = instance.draw_values();
        const auto expected = evaluate(pattern, values, std::numeric_limits<int32_t>::max());
        // The rule promises nothing if `before` adds the terms in an order that overflows.
        if (!expected || evaluate_wrapping(before, values) != expected) continue;
        ++compared;
        ASSERT_EQ(evaluate_wrapping(after, values), expected) << to_string(rule) << "\n"
                                                              << to_string(pattern) << "\n"
                                                              << to_string(before) << "\n"
                                                              << to_string(after);
      }
    }
    EXPECT_GE(compared, 100) << to_string(rule);
  }
}

// Each rule's text is unique, so a failing test shows which rule it is.
TEST(Rules, Print) {
  std::set<std::string> texts;
  for (const Rule& rule : all_rules()) {
    const std::string text = to_string(rule);
    EXPECT_NE(text.find(" -> "), std::string::npos) << text;
    EXPECT_TRUE(texts.insert(text).second) << text;
  }
  EXPECT_TRUE(
      texts.contains("floormod(x, c0) -> floormod(residue(x), c0)  if ((c0 > 0) && "
                     "(floormod(modulus(x), c0) == 0))"));
}

// Rules without sums also apply to 8-bit types, whose arithmetic wraps.
TEST(Rules, ServeNarrowTypes) {
  const RuleTable none({});
  RandomIndex random(11);
  for (const Type type : {Type::i(8), Type::u(8)}) {
    const Interval all = values_of(type);
    int applied = 0;
    for (const Rule& rule : all_rules()) {
      const TermView root(rule.pattern);
      if (!root.is(TermKind::Binary) || is_logical(root->op)) continue;
      const RuleTable alone({&rule, 1});
      for (int n = 0; n < 300; ++n) {
        Ranges ranges;
        const auto variable = [&](const char* name) {
          const Expr var = make_var(name, type);
          const int64_t a =
              random.one_of<int64_t>({all.min, all.max, random.from(all.min, all.max)});
          const int64_t b = random.one_of<int64_t>({0, a, random.from(all.min, all.max)});
          ranges.set(var, {std::min(a, b), std::max(a, b)});
          return var;
        };
        const Expr a = variable("a"), b = variable("b");
        const Expr constant = make_int(random.one_of<int64_t>({1, 2, 3, 7, 100}), type);
        const Expr divisor = random.from(0, 3) == 0 ? b : constant;
        const Expr operand = random.one_of<Expr>({a, a + b, max(a, constant)});
        const Expr e = make_binary(root->op, operand, divisor);
        const Expr before = simplify(e, ranges, none), after = simplify(e, ranges, alone);
        if (equal(before, after)) continue;
        ++applied;
        for (int s = 0; s < 16; ++s) {
          Values values;
          for (const Expr& var : {a, b}) {
            const Interval range = ranges.of(var.get());
            values[var.get()] =
                random.one_of<int64_t>({range.min, range.max, random.from(range.min, range.max)});
          }
          const auto expected = evaluate_wrapping(e, values);
          if (!expected) continue;
          ASSERT_EQ(evaluate_wrapping(after, values), expected)
              << to_string(rule) << "\n"
              << to_string(e) << "\n"
              << to_string(after) << "\na = " << values[a.get()] << ", b = " << values[b.get()];
        }
      }
    }
    EXPECT_GE(applied, 500) << to_string(type);
  }
}

// -- Examples.

struct Example {
  Expr before;
  std::string after;
};

class Examples {
 public:
  const std::vector<Example>& all() const { return examples_; }
  const Ranges& ranges() const { return ranges_; }

  Examples() {
    sums();
    divisions();
    truncating_divisions();
    extrema();
    comparisons();
    conditions();
    choices();
  }

 private:
  void add(const Expr& before, std::string after) {
    examples_.push_back({before, std::move(after)});
  }
  Expr loop(const char* name, int64_t extent) {
    const Expr var = make_var(name);
    ranges_.set(var, Interval{0, extent - 1});
    return var;
  }
  static Expr of(BinaryOp op, const Expr& a, const Expr& b) { return make_binary(op, a, b); }
  static Expr of(BinaryOp op, const Expr& a, int64_t b) {
    return make_binary(op, a, make_int(b, a->type));
  }

  void sums() {
    add(floordiv(x, 15) * 5 + floormod(floordiv(x, 3), 5), "floordiv(x, 3)");
    const Expr tiles = loop("tiles", 14);
    add(floordiv(floormod(tiles, 7) * 4 + i4, 14) * 14 + floormod(tiles * 4 + i4, 14),
        "floormod(tiles, 7) * 4 + i4");
    add(floormod(floordiv(x, 3), 5) * 3 + floormod(x, 3), "floormod(x, 15)");
    add(min(x, y) + max(x, y), "x + y");
  }
  void divisions() {
    add(floordiv(x * 4 + y, 4), "x + floordiv(y, 4)");
    add(floordiv(i4 - 4, 4), "-1");
    add(floordiv(x * 4 + i4, 16), "floordiv(x, 4)");
    add(floordiv(floordiv(x, 3) + 2, 5), "floordiv(x + 6, 15)");
    add(floormod(x * 8 + y, 4), "floormod(y, 4)");
    add(floormod(i4 - 4, 4), "i4");
    add(floormod(min(x * 4, y * 8) + 3, 4), "3");
    add(floormod(floormod(x, 12) + y, 4), "floormod(x + y, 4)");
    add(floormod(x * 4 + i4, 16), "floormod(x, 4) * 4 + i4");
  }
  void truncating_divisions() {
    add(of(BinaryOp::Div, i8 * 4 + i4, 4), "i8");
    add(of(BinaryOp::Div, n8, 3), "floordiv(n8 * -1, 3) * -1");
    add(of(BinaryOp::Div, x * 8 + y * 4, 4), "x * 2 + y");
    add(of(BinaryOp::Mod, i8 * 4 + i4, 4), "i4");
    add(of(BinaryOp::Mod, n8, 3), "floormod(n8 * -1, 3) * -1");
    add(of(BinaryOp::Mod, x * 8 + y * 4, 4), "0");
  }
  void extrema() {
    add(min(x + 1, x), "x");
    add(max(x, x + 1), "x + 1");
    add(min(m, m), "A[x]");
    add(max(m, m), "A[x]");
    add(min(min(m, y), m), "min(A[x], y)");
    add(max(max(m, y), m), "max(A[x], y)");
    add(min(max(m, y), m), "A[x]");
    add(max(min(m, y), m), "A[x]");
    add(min(min(x, make_int(9)), make_int(5)), "min(x, 5)");
    add(max(max(x, make_int(5)), make_int(9)), "max(x, 9)");
  }
  void comparisons() {
    using Op = BinaryOp;
    add(x < x + 1, "true");
    add(x + 1 < x, "false");
    add(i4 <= make_int(3), "true");
    add(x + 1 <= x, "false");
    add(of(Op::Gt, x + 1, x), "true");
    add(of(Op::Gt, i4, 3), "false");
    add(i4 >= make_int(0), "true");
    add(x >= x + 1, "false");
    add(of(Op::Eq, x + y, y + x), "true");
    add(of(Op::Eq, i4, 4), "false");
    add(of(Op::Ne, x + y, y + x), "false");
    add(of(Op::Ne, i4, 4), "true");
    add(of(Op::Eq, x * 4, 10), "false");
    add(of(Op::Ne, x * 4, 10), "true");
    add(x * 4 <= make_int(10), "x <= 2");
    add(make_int(10) <= x * 4, "x >= 3");
    add(of(Op::Gt, x * 4, 10), "x > 2");
    add(of(Op::Gt, make_int(10), x * 4), "x < 3");
    add(of(Op::Eq, x * 4, 12), "x == 3");
    add(of(Op::Ne, x * 4, 12), "x != 3");
    add(x * 4 + i4 < make_int(128), "x < 32");
    add(x * 4 + i4 >= make_int(128), "x >= 32");
  }
  void conditions() {
    const Expr p = make_var("p", kBool), q = make_var("q", kBool);
    const Expr pv = make_var("pv", kBool.with_lanes(4));
    const Expr yes = make_broadcast(make_bool(true), 4), no = make_broadcast(make_bool(false), 4);
    const auto both = [](const Expr& a, const Expr& b) { return of(BinaryOp::And, a, b); };
    const auto either = [](const Expr& a, const Expr& b) { return of(BinaryOp::Or, a, b); };
    add(make_not(make_not(p)), "p");
    add(make_not(x < y), "x >= y");
    add(make_not(x <= y), "x > y");
    add(make_not(of(BinaryOp::Gt, x, y)), "x <= y");
    add(make_not(x >= y), "x < y");
    add(make_not(of(BinaryOp::Eq, x, y)), "x != y");
    add(make_not(of(BinaryOp::Ne, x, y)), "x == y");
    add(both(pv, yes), "pv");
    add(both(yes, pv), "pv");
    add(both(pv, no), "x4(false)");
    add(both(no, pv), "x4(false)");
    add(both(p, p), "p");
    add(both(p, make_not(p)), "false");
    add(both(both(p, q), p), "p && q");
    add(both(both(p, q), q), "p && q");
    add(both(either(p, q), p), "p");
    add(both(x < make_int(9), x < make_int(5)), "x < 5");
    add(both(x >= make_int(9), x >= make_int(5)), "x >= 9");
    add(both(x >= make_int(9), x < make_int(9)), "false");
    add(either(pv, no), "pv");
    add(either(no, pv), "pv");
    add(either(pv, yes), "x4(true)");
    add(either(yes, pv), "x4(true)");
    add(either(p, p), "p");
    add(either(p, make_not(p)), "true");
    add(either(either(p, q), p), "p || q");
    add(either(either(p, q), q), "p || q");
    add(either(both(p, q), p), "p");
    add(either(x < make_int(9), x < make_int(5)), "x < 9");
    add(either(x >= make_int(9), x >= make_int(5)), "x >= 5");
    add(either(x >= make_int(5), x < make_int(5)), "true");
  }
  void choices() {
    const Expr p = make_var("p", kBool), q = make_var("q", kBool);
    const auto choose = [](const Expr& c, const Expr& a, const Expr& b) {
      return make_select(c, a, b);
    };
    add(choose(p, x + y, x + y), "x + y");
    const Expr xs = make_broadcast(x, 4), ys = make_broadcast(y, 4);
    add(choose(make_broadcast(make_bool(true), 4), xs, ys), "x4(x)");
    add(choose(make_broadcast(make_bool(false), 4), xs, ys), "x4(y)");
    add(choose(make_not(p), x, y), "select(p, y, x)");
    add(choose(p, choose(p, x, y), z), "select(p, x, z)");
    add(choose(p, x, choose(p, y, z)), "select(p, x, z)");
    add(choose(p, q, make_bool(false)), "p && q");
    add(choose(p, make_bool(true), q), "p || q");
    add(choose(x < y, x, y), "min(x, y)");
    add(choose(x <= y, x, y), "min(x, y)");
    add(choose(of(BinaryOp::Gt, x, y), x, y), "max(x, y)");
    add(choose(x >= y, x, y), "max(x, y)");
  }

  Ranges ranges_;
  std::vector<Example> examples_;
  Expr x = make_var("x"), y = make_var("y"), z = make_var("z");
  Expr i4 = loop("i4", 4), i8 = loop("i8", 8);
  Expr n8 = [this] {
    const Expr var = make_var("n8");
    ranges_.set(var, Interval{-7, 0});
    return var;
  }();
  Expr m = make_load(make_buffer("A", kInt32, {64}, MemoryScope::Global), {x});
};

// With all rules, each example simplifies as expected; if one rule is missing, some example fails.
TEST(Rules, EachIsNeeded) {
  const Examples examples;
  for (const Example& e : examples.all()) {
    ASSERT_EQ(to_string(simplify(e.before, examples.ranges())), e.after) << to_string(e.before);
  }
  for (size_t row = 0; row < all_rules().size(); ++row) {
    std::vector<Rule> others(all_rules().begin(), all_rules().end());
    others.erase(others.begin() + static_cast<ptrdiff_t>(row));
    const RuleTable table(others);
    bool needed = false;
    for (const Example& e : examples.all()) {
      needed = needed || to_string(simplify(e.before, examples.ranges(), table)) != e.after;
    }
    EXPECT_TRUE(needed) << to_string(all_rules()[row]);
  }
}

TEST(Rules, ReadAsTheyAreWritten) {
  EXPECT_EQ(to_string(all_rules().front()),
            "((simplified(floordiv(x, c0)) * c0) + floormod(x, c0)) -> x  if (c0 > 0)");
}

}  // namespace
}  // namespace texloom::ir::arith
