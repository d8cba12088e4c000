#include "ir/interpret/associative.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_set>

#include "ir/interpret/evaluate.h"

namespace texloom::ir {

namespace {

using Values = std::vector<Value>;

constexpr int kTrials = 16;
// Three values of float16 are rounded a few times, each by at most 2^-11 of the value.
constexpr double kTolerance = 0.01;
constexpr int64_t kSteps = 1'000'000;

bool is_closed(const Reducer& reducer) {
  std::unordered_set<const ExprNode*> own;
  for (const Exprs* side : {&reducer.lhs, &reducer.rhs}) {
    for (const Expr& var : *side) own.insert(var.get());
  }
  bool closed = true;
  for (const Expr& result : reducer.results) {
    walk(result, [&](const ExprNode& n) {
      const bool evaluated = n.kind != ExprKind::Load && n.kind != ExprKind::TextureLoad &&
                             n.kind != ExprKind::TensorRead && n.kind != ExprKind::Reduce &&
                             n.kind != ExprKind::ForeignCall && n.kind != ExprKind::Pointer;
      closed = closed && evaluated && (n.kind != ExprKind::Var || own.contains(&n));
    });
  }
  return closed;
}

Values combined(const Reducer& reducer, const Values& a, const Values& b) {
  RunState state{Reporter(0), StepBudget(kSteps), {}};
  Runner runner(state);
  View view;
  Evaluator evaluator(runner, view);
  for (size_t i = 0; i < a.size(); ++i) {
    evaluator.bind(reducer.lhs[i], a[i]);
    evaluator.bind(reducer.rhs[i], b[i]);
  }
  Values results;
  for (const Expr& result : reducer.results) results.push_back(evaluator.evaluate(result));
  return results;
}

bool is_known(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) {
    return v.front().undefined == 0 && std::isfinite(v.front().number);
  });
}

bool differ(const Value& a, const Value& b) {
  if (!a.type.is_float()) return a.front().integer != b.front().integer;
  const double x = a.front().number, y = b.front().number;
  return std::abs(x - y) > kTolerance * std::max({1.0, std::abs(x), std::abs(y)});
}

}  // namespace

bool depends_on_grouping(const Reducer& reducer) {
  if (!is_closed(reducer)) return false;
  std::mt19937 random;  // the same numbers at each call
  const auto element = [&] {
    Values values;
    for (const Expr& var : reducer.lhs) {
      const auto number = static_cast<int64_t>(1 + random() % 8);
      Value value{var->type, {}};
      value.lanes[0] = var->type.is_float()  ? scalar_of(static_cast<double>(number) / 4)
                       : var->type.is_bool() ? scalar_of(number % 2)
                                             : scalar_of(number);
      values.push_back(value);
    }
    return values;
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    const Values a = element(), b = element(), c = element();
    const Values first = combined(reducer, a, b), last = combined(reducer, b, c);
    if (!is_known(first) || !is_known(last)) continue;
    const Values left = combined(reducer, first, c), right = combined(reducer, a, last);
    if (!is_known(left) || !is_known(right)) continue;
    if (!std::equal(left.begin(), left.end(), right.begin(),
                    [](const Value& x, const Value& y) { return !differ(x, y); })) {
      return true;
    }
  }
  return false;
}

}  // namespace texloom::ir
