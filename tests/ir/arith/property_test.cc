// Properties of every index expression: simplification keeps the value, bounds contain it, and
// proofs are true.

#include <gtest/gtest.h>

#include "ir/arith/order.h"
#include "ir/arith/ranges.h"
#include "ir/arith/region.h"
#include "ir/arith/simplify.h"
#include "support/floor_division.h"
#include "tests/ir/arith/random_index.h"

namespace texloom::ir::arith {
namespace {

constexpr int kExpressions = 6'000;
constexpr int kSamples = 12;

std::string text_of(const Values& values, const std::vector<Expr>& variables) {
  std::string text;
  for (const Expr& var : variables) {
    text += " " + as<Var>(var)->name + "=" + std::to_string(values.at(var.get()));
  }
  return text;
}

bool holds(const Interval& interval, int64_t value) {
  return interval.min <= value && value <= interval.max;
}

TEST(ArithProperty, SimplifyKeepsTheValue) {
  RandomIndex random(1);
  int compared = 0, shortened = 0;
  for (int n = 0; n < kExpressions; ++n) {
    random.draw_variables();
    const bool condition = n % 4 == 0;
    const Expr e = condition ? random.boolean(3) : random.integer(4);
    const Expr simple = simplify(e, random.ranges());
    ASSERT_EQ(simple->type, e->type);
    shortened += to_string(simple).size() < to_string(e).size() ? 1 : 0;
    const Interval interval = bounds(e, random.ranges());
    for (int s = 0; s < kSamples; ++s) {
      const Values values = random.draw_values();
      const auto value = evaluate(e, values);
      if (!value) continue;
      ++compared;
      ASSERT_EQ(evaluate(simple, values, int64_t{1} << 60), value)
          << to_string(e) << "\n"
          << to_string(simple) << text_of(values, random.variables());
      ASSERT_TRUE(holds(interval, *value))
          << to_string(e) << " = " << *value << " is not in " << interval.min << ".."
          << interval.max << text_of(values, random.variables());
    }
  }
  // The random draw is useful only if most points are defined and many expressions get shorter.
  EXPECT_GT(compared, kExpressions * kSamples * 3 / 4);
  EXPECT_GT(shortened, kExpressions / 3);
}

TEST(ArithProperty, RemaindersAreLeft) {
  RandomIndex random(6);
  int known = 0;
  for (int n = 0; n < kExpressions; ++n) {
    random.draw_variables();
    const Expr e = random.integer(4);
    const Modular m = modular(e, random.ranges());
    if (m == Modular::everything()) continue;
    ++known;
    for (int s = 0; s < kSamples; ++s) {
      const Values values = random.draw_values();
      const auto value = evaluate(e, values);
      if (!value) continue;
      const int64_t left = m.modulus == 0 ? *value : floor_mod(*value, m.modulus);
      ASSERT_EQ(left, m.residue) << to_string(e) << " = " << *value << " mod " << m.modulus
                                 << text_of(values, random.variables());
    }
  }
  EXPECT_GT(known, kExpressions / 4);
}

// A proof under an assumed condition, or its negation, holds wherever the assumption holds.
TEST(ArithProperty, AssumptionsHold) {
  RandomIndex random(7);
  int narrowed = 0;
  for (int n = 0; n < kExpressions; ++n) {
    random.draw_variables();
    const Expr condition = random.boolean(2), e = random.integer(2);
    const bool holds = n % 3 != 0;
    Ranges ranges = random.ranges();
    ranges.assume(condition, holds);
    const Expr simple = simplify(e, ranges), decided = simplify(condition, ranges);
    narrowed += is_true(decided) || is_false(decided) ? 1 : 0;
    for (int s = 0; s < kSamples; ++s) {
      const Values values = random.draw_values();
      const auto outcome = evaluate(condition, values), value = evaluate(e, values);
      if (!outcome || (*outcome != 0) != holds) continue;
      ASSERT_EQ(evaluate(decided, values, int64_t{1} << 60), outcome)
          << to_string(condition) << "\n"
          << to_string(decided) << text_of(values, random.variables());
      if (!value) continue;
      ASSERT_EQ(evaluate(simple, values, int64_t{1} << 60), value)
          << to_string(condition) << " is " << holds << "\n"
          << to_string(e) << "\n"
          << to_string(simple) << text_of(values, random.variables());
    }
  }
  EXPECT_GT(narrowed, kExpressions / 3);
}

TEST(ArithProperty, OrdersThatAreProvedHold) {
  RandomIndex random(8);
  int proved = 0;
  for (int n = 0; n < kExpressions; ++n) {
    random.draw_variables();
    const Expr e = random.integer(3), limit = random.integer(1);
    const bool less = prove_less(e, limit, random.ranges());
    const bool greater = prove_greater(e, limit, random.ranges());
    ASSERT_FALSE(less && greater);
    if (!less && !greater) continue;
    ++proved;
    for (int s = 0; s < kSamples; ++s) {
      const Values values = random.draw_values();
      const auto value = evaluate(e, values), bound = evaluate(limit, values);
      if (!value || !bound) continue;
      ASSERT_TRUE(less ? *value < *bound : *value > *bound)
          << to_string(e) << " against " << to_string(limit) << text_of(values, random.variables());
    }
  }
  EXPECT_GT(proved, kExpressions / 8);
}

TEST(ArithProperty, WhatIsProvedIsTrue) {
  RandomIndex random(2);
  int proved = 0;
  for (int n = 0; n < kExpressions; ++n) {
    random.draw_variables();
    const Expr e = random.boolean(2);
    if (!prove(e, random.ranges())) continue;
    ++proved;
    for (int s = 0; s < kSamples; ++s) {
      const Values values = random.draw_values();
      ASSERT_NE(evaluate(e, values), 0) << to_string(e) << text_of(values, random.variables());
    }
  }
  EXPECT_GT(proved, kExpressions / 20);
}

TEST(ArithProperty, ConstantDifferencesAreTheDifference) {
  RandomIndex random(3);
  int found = 0;
  for (int n = 0; n < kExpressions; ++n) {
    random.draw_variables();
    const Expr a = random.integer(3);
    const Expr b =
        n % 2 == 0 ? random.integer(2) : simplify(a, random.ranges()) + random.from(-5, 5);
    const auto difference = constant_difference(a, b, random.ranges());
    if (!difference) continue;
    ++found;
    for (int s = 0; s < kSamples; ++s) {
      const Values values = random.draw_values();
      const auto x = evaluate(a, values), y = evaluate(b, values);
      if (!x || !y) continue;
      ASSERT_EQ(*x - *y, *difference) << to_string(a) << "\n" << to_string(b);
    }
  }
  EXPECT_GT(found, kExpressions / 3);
}

// The value stays between the region's ends while the running variables vary; the ends name only
// the other variables.
TEST(ArithProperty, RegionsHoldTheValue) {
  RandomIndex random(4);
  int found = 0;
  for (int n = 0; n < kExpressions; ++n) {
    random.draw_variables();
    const std::vector<Expr>& vars = random.variables();
    const Expr e = random.integer(3);
    RegionMap running;
    running[vars[1]] = {make_int(0), make_int(random.ranges().of(vars[1].get()).max)};
    running[vars[2]] = {make_int(0), make_int(random.ranges().of(vars[2].get()).max)};
    const auto region = region_of(e, running, random.ranges());
    if (!region) continue;
    ++found;
    for (const Expr& end : {region->min, region->max}) {
      ASSERT_FALSE(uses_var(end, vars[1]) || uses_var(end, vars[2])) << to_string(end);
    }
    for (int s = 0; s < kSamples; ++s) {
      const Values values = random.draw_values();
      const auto value = evaluate(e, values);
      const auto low = evaluate(region->min, values), high = evaluate(region->max, values);
      if (!value || !low || !high) continue;
      ASSERT_LE(*low, *value) << to_string(e) << " from " << to_string(region->min)
                              << text_of(values, vars);
      ASSERT_GE(*high, *value) << to_string(e) << " to " << to_string(region->max)
                               << text_of(values, vars);
    }
  }
  EXPECT_GT(found, kExpressions / 2);
}

}  // namespace
}  // namespace texloom::ir::arith
