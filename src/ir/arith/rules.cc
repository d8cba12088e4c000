#include "ir/arith/rules.h"

#include <fmt/format.h>

namespace texloom::ir::arith {
namespace {

using namespace terms;  // the whole table consists of terms

constexpr Term kAlways = 1;
constexpr Domain kAny = Domain::Any, kIndex = Domain::Index;

// clang-format off: it takes `p && q` for a reference
// NOLINTBEGIN(misc-redundant-expression): rows simplify such expressions
constexpr Rule kRules[] = {
    // -- Sums of a quotient and a remainder: the parts of a fused axis joined again.
    {kAny, simplified(floordiv(x, c0)) * c0 + floormod(x, c0), c0 > 0, x},
    {kAny, floordiv(x, c0) * c0 + simplified(floormod(x, c0)), c0 > 0, x},
    {kAny, floormod(simplified(floordiv(x, c0)), c1) * c0 + floormod(x, c0), c0 > 0 && c1 > 0,
     floormod(x, c0 * c1)},
    {kAny, min(x, y) + max(x, y), kAlways, x + y},

    // -- Floor division by a positive constant.
    {kIndex, floordiv(x * c0 + y, c0), c0 > 0, x + floordiv(y, c0)},
    {kIndex, floordiv(x, c0), c0 > 0 && floordiv(low(x), c0) == floordiv(high(x), c0),
     floordiv(low(x), c0)},
    {kIndex, floordiv(x * c0 + y, c1),
     c0 > 1 && c1 > 0 && floormod(c1, c0) == 0 && low(y) >= 0 && high(y) < c0,
     floordiv(x, floordiv(c1, c0))},
    {kIndex, floordiv(floordiv(x, c0) + c1, c2), c0 > 0 && c2 > 0, floordiv(x + c0 * c1, c0 * c2)},

    // -- Floor remainder by a positive constant.
    {kIndex, floormod(x * c0 + y, c0), c0 > 0, floormod(y, c0)},
    {kIndex, floormod(x, c0), c0 > 0 && floordiv(low(x), c0) == floordiv(high(x), c0),
     x - floordiv(low(x), c0) * c0},
    {kIndex, floormod(x, c0), c0 > 0 && floormod(modulus(x), c0) == 0, floormod(residue(x), c0)},
    {kIndex, floormod(floormod(x, c0) * c1 + y, c2), c0 > 0 && c2 > 0 && floormod(c0 * c1, c2) == 0,
     floormod(x * c1 + y, c2)},
    {kIndex, floormod(x * c0 + y, c1),
     c0 > 1 && c1 > 0 && floormod(c1, c0) == 0 && low(y) >= 0 && high(y) < c0,
     floormod(x, floordiv(c1, c0)) * c0 + y},

    // -- Truncating division rounds down if nothing is negative, and up if the dividend is negative
    // (the guard needs the least value of the dividend, so that the result can be negated). An
    // exact division does not round.
    {kIndex, truncdiv(x, y), low(x) >= 0 && low(y) > 0, floordiv(x, y)},
    {kIndex, truncdiv(x, c0), c0 > 0 && high(x) <= 0 && low(x) <= 0, 0 - floordiv(0 - x, c0)},
    {kIndex, truncdiv(x * c0 + 0, c0), c0 > 0, x},
    {kIndex, truncmod(x, y), low(x) >= 0 && low(y) > 0, floormod(x, y)},
    {kIndex, truncmod(x, c0), c0 > 0 && high(x) <= 0 && low(x) <= 0, 0 - floormod(0 - x, c0)},
    {kIndex, truncmod(x, c0),
     c0 > 0 && floormod(modulus(x), c0) == 0 && floormod(residue(x), c0) == 0, 0},

    // -- Minima and maxima.
    {kIndex, min(x, y), high(x - y) <= 0, x},
    {kIndex, max(x, y), low(x - y) >= 0, x},
    {kAny, min(x, x), kAlways, x},
    {kAny, max(x, x), kAlways, x},
    {kAny, min(min(x, y), x), kAlways, min(x, y)},
    {kAny, max(max(x, y), x), kAlways, max(x, y)},
    {kAny, min(max(x, y), x), kAlways, x},
    {kAny, max(min(x, y), x), kAlways, x},
    {kAny, min(min(x, c0), c1), kAlways, min(x, min(c0, c1))},
    {kAny, max(max(x, c0), c1), kAlways, max(x, max(c0, c1))},

    // -- Comparisons that the bounds decide.
    {kIndex, x < y, high(x) < low(y), 1},
    {kIndex, x < y, low(x) >= high(y), 0},
    {kIndex, x <= y, high(x) <= low(y), 1},
    {kIndex, x <= y, low(x) > high(y), 0},
    {kIndex, x > y, low(x) > high(y), 1},
    {kIndex, x > y, high(x) <= low(y), 0},
    {kIndex, x >= y, low(x) >= high(y), 1},
    {kIndex, x >= y, high(x) < low(y), 0},
    {kIndex, x == y, low(x) == high(y) && high(x) == low(y), 1},
    {kIndex, x == y, low(x) > high(y), 0},
    {kIndex, x != y, low(x) == high(y) && high(x) == low(y), 0},
    {kIndex, x != y, low(x) > high(y), 1},
    {kIndex, x == 0, residue(x) != 0, 0},
    {kIndex, x != 0, residue(x) != 0, 1},

    // -- Comparisons: division by a common factor.
    {kIndex, x * c0 + c1 <= 0, c0 > 1, x <= floordiv(0 - c1, c0)},
    {kIndex, x * c0 + c1 <= 0, c0 < -1, x >= 0 - floordiv(0 - c1, 0 - c0)},
    {kIndex, x * c0 + c1 > 0, c0 > 1, x > floordiv(0 - c1, c0)},
    {kIndex, x * c0 + c1 > 0, c0 < -1, x < 0 - floordiv(0 - c1, 0 - c0)},
    {kIndex, x * c0 + c1 == 0, c0 * c0 > 1 && floormod(c1, c0) == 0, x == 0 - floordiv(c1, c0)},
    {kIndex, x * c0 + c1 != 0, c0 * c0 > 1 && floormod(c1, c0) == 0, x != 0 - floordiv(c1, c0)},
    // A part below the next multiple does not change the comparison.
    {kIndex, x * c0 + y < 0, c0 > 1 && low(y) >= 0 && high(y) < c0, x < 0},
    {kIndex, x * c0 + y >= 0, c0 > 1 && low(y) >= 0 && high(y) < c0, x >= 0},

    // -- Negation.
    {kAny, !!p, kAlways, p},
    {kAny, !(x < y), kAlways, x >= y},
    {kAny, !(x <= y), kAlways, x > y},
    {kAny, !(x > y), kAlways, x <= y},
    {kAny, !(x >= y), kAlways, x < y},
    {kAny, !(x == y), kAlways, x != y},
    {kAny, !(x != y), kAlways, x == y},

    // -- And, or. The constants are vectors: make_binary folds scalar ones.
    {kAny, p && 1, kAlways, p},
    {kAny, 1 && p, kAlways, p},
    {kAny, p && 0, kAlways, 0},
    {kAny, 0 && p, kAlways, 0},
    {kAny, p && p, kAlways, p},
    {kAny, p && !p, kAlways, 0},
    {kAny, (p && q) && p, kAlways, p && q},
    {kAny, (p && q) && q, kAlways, p && q},
    {kAny, (p || q) && p, kAlways, p},
    {kAny, x < c0 && x < c1, kAlways, x < min(c0, c1)},
    {kAny, x >= c0 && x >= c1, kAlways, x >= max(c0, c1)},
    {kAny, x >= c0 && x < c1, c0 >= c1, 0},
    {kAny, p || 0, kAlways, p},
    {kAny, 0 || p, kAlways, p},
    {kAny, p || 1, kAlways, 1},
    {kAny, 1 || p, kAlways, 1},
    {kAny, p || p, kAlways, p},
    {kAny, p || !p, kAlways, 1},
    {kAny, (p || q) || p, kAlways, p || q},
    {kAny, (p || q) || q, kAlways, p || q},
    {kAny, (p && q) || p, kAlways, p},
    {kAny, x < c0 || x < c1, kAlways, x < max(c0, c1)},
    {kAny, x >= c0 || x >= c1, kAlways, x >= min(c0, c1)},
    {kAny, x >= c0 || x < c1, c0 <= c1, 1},

    // -- Selects.
    {kAny, select(p, v, v), kAlways, v},
    {kAny, select(!p, v, w), kAlways, select(p, w, v)},
    {kAny, select(p, select(p, u, v), w), kAlways, select(p, u, w)},
    {kAny, select(p, u, select(p, v, w)), kAlways, select(p, u, w)},
    {kAny, select(p, q, 0), kAlways, p && q},
    {kAny, select(p, 1, q), kAlways, p || q},
    {kAny, select(x < y, x, y), kAlways, min(x, y)},
    {kAny, select(x <= y, x, y), kAlways, min(x, y)},
    {kAny, select(x > y, x, y), kAlways, max(x, y)},
    {kAny, select(x >= y, x, y), kAlways, max(x, y)},
};
// NOLINTEND(misc-redundant-expression)
// clang-format on

std::string to_string(TermView t) {
  const auto child = [&](int number) { return to_string(t.child(number)); };
  switch (t->kind) {
    case TermKind::Literal:
      return std::to_string(t->value);
    case TermKind::Constant:
      return fmt::format("c{}", t->value);
    case TermKind::Integer:
      return std::string(1, "xyz"[t->value]);
    case TermKind::Condition:
      return std::string(1, "pq"[t->value]);
    case TermKind::Value:
      return std::string(1, "uvw"[t->value]);
    case TermKind::Binary:
      if (is_infix(t->op)) return fmt::format("({} {} {})", child(0), spelling(t->op), child(1));
      return fmt::format("{}({}, {})", spelling(t->op), child(0), child(1));
    case TermKind::Not:
      return "!" + child(0);
    case TermKind::Select:
      return fmt::format("select({}, {}, {})", child(0), child(1), child(2));
    case TermKind::Simplified:
      return fmt::format("simplified({})", child(0));
    case TermKind::Low:
      return fmt::format("low({})", child(0));
    case TermKind::High:
      return fmt::format("high({})", child(0));
    case TermKind::Modulus:
      return fmt::format("modulus({})", child(0));
    case TermKind::Residue:
      return fmt::format("residue({})", child(0));
  }
  TL_UNREACHABLE();
}

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

RuleTable::RuleTable(std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    const TermView root(rule.pattern);
    (root.is(TermKind::Binary) ? binary_[static_cast<size_t>(root->op)]
     : root.is(TermKind::Not)  ? not_
                               : select_)
        .push_back(&rule);
  }
}

const RuleTable& default_rules() {
  static const RuleTable table(kRules);
  return table;
}

std::string to_string(const Rule& rule) {
  return fmt::format("{} -> {}  if {}", to_string(TermView(rule.pattern)),
                     to_string(TermView(rule.result)), to_string(TermView(rule.guard)));
}

}  // namespace texloom::ir::arith
