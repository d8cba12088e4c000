// Random index expressions and their values: the oracle of the property tests.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/program.h"
#include "ir/visit.h"

namespace texloom::ir::arith {

using Values = std::unordered_map<const ExprNode*, int64_t>;

inline int64_t floor_quotient(int64_t a, int64_t b) {
  const int64_t remainder = (a % b + b) % b;
  return (a - remainder) / b;
}

// The value of an integer or bool expression. `finish(part, result)` gets the exact result of each
// part, and may wrap or reject it. Returns nothing if an evaluated part is undefined (division by
// zero) or rejected.
template <class Finish>
std::optional<int64_t> evaluate_with(const Expr& e, const Values& values, const Finish& finish) {
  const auto result = visit(
      e, [&](const IntImm& n) { return std::optional(n.value); },
      [&](const Var& n) { return std::optional(values.at(&n)); },
      [&](const Not& n) {
        const auto value = evaluate_with(n.value, values, finish);
        return value ? std::optional<int64_t>(*value == 0 ? 1 : 0) : std::nullopt;
      },
      [&](const Select& n) {
        const auto condition = evaluate_with(n.condition, values, finish);
        if (!condition) return condition;
        return evaluate_with(*condition != 0 ? n.if_true : n.if_false, values, finish);
      },
      [&](const Cast& n) { return evaluate_with(n.value, values, finish); },
      [&](const Binary& n) -> std::optional<int64_t> {
        const auto x = evaluate_with(n.a, values, finish);
        if (!x) return x;
        if (n.op == BinaryOp::And && *x == 0) return 0;
        if (n.op == BinaryOp::Or && *x != 0) return 1;
        const auto y = evaluate_with(n.b, values, finish);
        if (!y) return y;
        const int64_t a = *x, b = *y;
        const bool division = n.op >= BinaryOp::Div && n.op <= BinaryOp::FloorMod;
        if (division && b == 0) return std::nullopt;
        switch (n.op) {
          case BinaryOp::Add:
            return a + b;
          case BinaryOp::Sub:
            return a - b;
          case BinaryOp::Mul:
            return a * b;
          case BinaryOp::Div:
            return a / b;
          case BinaryOp::Mod:
            return a % b;
          case BinaryOp::FloorDiv:
            return floor_quotient(a, b);
          case BinaryOp::FloorMod:
            return a - floor_quotient(a, b) * b;
          case BinaryOp::Min:
            return a < b ? a : b;
          case BinaryOp::Max:
            return a < b ? b : a;
          case BinaryOp::Eq:
            return a == b ? 1 : 0;
          case BinaryOp::Ne:
            return a != b ? 1 : 0;
          case BinaryOp::Lt:
            return a < b ? 1 : 0;
          case BinaryOp::Le:
            return a <= b ? 1 : 0;
          case BinaryOp::Gt:
            return a > b ? 1 : 0;
          case BinaryOp::Ge:
            return a >= b ? 1 : 0;
          case BinaryOp::And:
            return b != 0 ? 1 : 0;
          case BinaryOp::Or:
            return b != 0 ? 1 : 0;
          default:
            return std::nullopt;
        }
      },
      [](const auto&) { return std::optional<int64_t>(); });
  return result ? finish(e, *result) : result;
}

// Evaluates in exact arithmetic; nothing if a part is outside [-limit - 1, limit].
inline std::optional<int64_t> evaluate(const Expr& e, const Values& values,
                                       int64_t limit = int64_t{1} << 30) {
  return evaluate_with(e, values, [limit](const Expr&, int64_t result) {
    return result > limit || result < -limit - 1 ? std::nullopt : std::optional(result);
  });
}

// Evaluates in the wrapping arithmetic of the types.
inline std::optional<int64_t> evaluate_wrapping(const Expr& e, const Values& values) {
  return evaluate_with(e, values, [](const Expr& part, int64_t result) {
    return std::optional(as<IntImm>(make_int(result, part->type))->value);
  });
}

// Draws variables with ranges, expressions over them, and values in the ranges.
class RandomIndex {
 public:
  explicit RandomIndex(uint64_t seed) : engine_(seed) {}

  int64_t from(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(from(0, static_cast<int64_t>(choices.size()) - 1))];
  }

  // Loop variables, a variable that may be negative, one with a single value, and one without a
  // range. Large variables come near the limits of int32.
  void draw_variables(bool large = false) {
    variables_.clear();
    ranges_ = {};
    for (const char* name : {"i", "j", "k"}) {
      add(name, {0, one_of<int64_t>({1, 2, 3, 4, 7, 8, 16, 24, 56}) - 1}, true);
    }
    const int64_t low = from(-20, 5);
    add("n", {low, low + from(0, 20)}, true);
    if (large) {
      constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
      add("l", {0, one_of<int64_t>({3'000'000, kMost / 4, kMost})}, true);
      add("g", {-kMost - 1, one_of<int64_t>({-kMost / 2, 0, kMost})}, true);
    }
    const int64_t only = from(-3, 9);
    add("p", {only, only}, true);
    add("u", {-40, 40}, false);
  }
  const std::vector<Expr>& variables() const { return variables_; }
  const Ranges& ranges() const { return ranges_; }

  Values draw_values() {
    Values values;
    for (size_t i = 0; i < variables_.size(); ++i) {
      values[variables_[i].get()] = from(0, 3) != 0   ? from(intervals_[i].min, intervals_[i].max)
                                    : from(0, 1) != 0 ? intervals_[i].min
                                                      : intervals_[i].max;
    }
    return values;
  }

  Expr integer(int depth) {
    const int64_t kind = depth == 0 ? from(0, 3) : from(0, 20);
    if (kind == 0) return make_int(from(-20, 40));
    if (kind <= 3) return one_of(variables_);
    if (kind <= 7) return integer(depth - 1) + integer(depth - 1);
    if (kind <= 9) return integer(depth - 1) - integer(depth - 1);
    if (kind <= 12) return integer(depth - 1) * factor();
    if (kind == 13) return factor() * integer(depth - 1);
    if (kind <= 15) return floordiv(integer(depth - 1), divisor(depth));
    if (kind <= 17) return floormod(integer(depth - 1), divisor(depth));
    if (kind == 18) {
      const BinaryOp op = one_of<BinaryOp>({BinaryOp::Div, BinaryOp::Mod});
      return make_binary(op, integer(depth - 1), divisor(depth));
    }
    if (kind == 19) {
      const BinaryOp op = one_of<BinaryOp>({BinaryOp::Min, BinaryOp::Max, BinaryOp::Mul});
      return make_binary(op, integer(depth - 1), integer(depth - 1));
    }
    return make_select(boolean(depth - 1), integer(depth - 1), integer(depth - 1));
  }

  Expr boolean(int depth) {
    const int64_t kind = depth == 0 ? from(0, 5) : from(0, 8);
    if (kind <= 5) {
      const auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::Eq) + kind);
      const int rest = depth == 0 ? 0 : depth - 1;
      return make_binary(op, integer(rest), integer(rest));
    }
    if (kind == 6) return make_not(boolean(depth - 1));
    return make_binary(kind == 7 ? BinaryOp::And : BinaryOp::Or, boolean(depth - 1),
                       boolean(depth - 1));
  }

 private:
  void add(const char* name, Interval interval, bool known) {
    variables_.push_back(make_var(name));
    intervals_.resize(variables_.size());
    intervals_.back() = interval;
    if (known) ranges_.set(variables_.back(), interval);
  }
  Expr factor() { return make_int(one_of<int64_t>({-8, -3, -1, 2, 3, 4, 6, 7, 8, 16, 28, 56})); }
  Expr divisor(int depth) {
    const int64_t kind = from(0, 19);
    if (kind == 0) return integer(depth - 1);
    if (kind <= 2) return make_int(one_of<int64_t>({-4, -3, -2, -1, 0}));
    return make_int(one_of<int64_t>({1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 28, 56, 112}));
  }

  std::mt19937_64 engine_;
  std::vector<Expr> variables_;
  std::vector<Interval> intervals_;
  Ranges ranges_;
};

}  // namespace texloom::ir::arith
