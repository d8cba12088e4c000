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

size_t size_of(arith::Interval values) {
  return static_cast<size_t>(std::min<int64_t>(values.max - values.min, kMostPoints)) + 1;
}

// Values to try: both ends of the interval, then values next to the ends, then all values.
std::vector<int64_t> some_values(arith::Interval values, size_t count) {
  if (count == 1) return {values.max};
  if (count == 2) return {values.min, values.max};
  if (count < size_of(values)) return {values.min, values.min + 1, values.max - 1, values.max};
  std::vector<int64_t> all;
  for (int64_t v = values.min; v <= values.max; ++v) all.push_back(v);
  return all;
}

// Gives each variable both ends of its range; then gives variables with few values more of their
// values, as long as the number of points stays small. False if a variable is not bounded or has no
// value.
bool choose_values(std::vector<Choice>& choices, const arith::Ranges& ranges) {
  std::vector<size_t> order(choices.size()), counts(choices.size(), 1);
  const auto range = [&](size_t i) { return ranges.of(choices[i].var.get()); };
  for (size_t i = 0; i < choices.size(); ++i) {
    order[i] = i;
    if (!range(i).bounded() || range(i).max < range(i).min) return false;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return size_of(range(a)) < size_of(range(b)); });
  size_t points = 1;
  for (const size_t wanted : {size_t{2}, size_t{4}, kMostPoints}) {
    for (const size_t i : order) {
      const size_t more = std::min(wanted, size_of(range(i)));
      if (more <= counts[i] || points / counts[i] * more > kMostPoints) continue;
      points = points / counts[i] * more;
      counts[i] = more;
    }
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    choices[i].values = some_values(range(i), counts[i]);
  }
  return true;
}

std::string text_of(const std::vector<Choice>& choices, const Substitution& point) {
  std::string text;
  for (const Choice& choice : choices) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", as<Var>(choice.var)->name,
                        *int_value(point.at(choice.var)));
  }
  return text;
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
    size_t rest = number;
    for (const Choice& choice : choices) {
      const int64_t value = choice.values[rest % choice.values.size()];
      rest /= choice.values.size();
      point.emplace(choice.var, make_int(value, choice.var->type));
    }
    const std::optional<int64_t> at = value_at(index, point);
    if (!at) return std::nullopt;
    if (*at >= 0 && *at < extent) continue;
    const bool reached = std::all_of(path.begin(), path.end(), [&](const PathCondition& each) {
      return value_at(each.condition, point) == static_cast<int64_t>(each.holds);
    });
    if (reached) return OutsidePoint{*at, text_of(choices, point)};
  }
  return std::nullopt;
}

}  // namespace texloom::lower
