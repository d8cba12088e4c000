#include "lower/schedule/outside_point.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr size_t kMostPoints = 512;

// A variable and the values to try.
struct Choice {
  Expr var;
  std::vector<int64_t> values;
};

void add_variables(const Expr& e, std::vector<Choice>& choices) {
  walk(e, [&](const Var& v) {
    const bool known = std::any_of(choices.begin(), choices.end(),
                                   [&](const Choice& c) { return c.var.get() == &v; });
    if (!known) choices.push_back({Expr(&v), {}});
  });
}

// The ends of an interval, and the values next to them if there is room for them.
std::vector<int64_t> values_of(arith::Interval values, size_t room) {
  std::vector<int64_t> some;
  if (static_cast<uint64_t>(values.max - values.min) < room) {
    for (int64_t v = values.min; v <= values.max; ++v) some.push_back(v);
    return some;
  }
  if (room >= 1) some.push_back(values.max);
  if (room >= 2) some.push_back(values.min);
  if (room >= 4) some.insert(some.end(), {values.min + 1, values.max - 1});
  return some;
}

// False if a variable is not bounded or has no value.
bool choose_values(std::vector<Choice>& choices, const arith::Ranges& ranges) {
  size_t points = 1;
  for (Choice& choice : choices) {
    const arith::Interval values = ranges.of(choice.var.get());
    if (!values.bounded() || values.max < values.min) return false;
    choice.values = values_of(values, kMostPoints / points);
    points *= choice.values.size();
  }
  return true;
}

std::optional<int64_t> value_at(const Expr& e, const Substitution& point) {
  const Expr value = arith::simplify(substitute(e, point), {});
  if (const int64_t* number = int_value(value)) return *number;
  if (is_true(value)) return 1;
  if (is_false(value)) return 0;
  return std::nullopt;
}

}  // namespace

std::optional<OutsidePoint> find_outside_point(const Expr& index, int64_t extent,
                                               const std::vector<PathCondition>& path,
                                               const arith::Ranges& ranges) {
  std::vector<Choice> choices;
  add_variables(index, choices);
  for (const PathCondition& each : path) add_variables(each.condition, choices);
  if (!choose_values(choices, ranges)) return std::nullopt;
  size_t points = 1;
  for (const Choice& choice : choices) points *= choice.values.size();
  for (size_t number = 0; number < points; ++number) {
    Substitution point;
    std::string axes;
    size_t rest = number;
    for (const Choice& choice : choices) {
      const int64_t value = choice.values[rest % choice.values.size()];
      rest /= choice.values.size();
      point.emplace(choice.var, make_int(value, choice.var->type));
      axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", as<Var>(choice.var)->name, value);
    }
    const std::optional<int64_t> at = value_at(index, point);
    if (!at) return std::nullopt;
    if (*at >= 0 && *at < extent) continue;
    const bool reached = std::all_of(path.begin(), path.end(), [&](const PathCondition& each) {
      return value_at(each.condition, point) == static_cast<int64_t>(each.holds);
    });
    if (reached) return OutsidePoint{*at, std::move(axes)};
  }
  return std::nullopt;
}

}  // namespace texloom::lower
