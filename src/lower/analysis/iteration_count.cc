#include "lower/analysis/iteration_count.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/arith/ranges.h"
#include "ir/interpret/value.h"

namespace texloom::lower {

using ir::as;
using ir::Binary;
using ir::BinaryOp;
using ir::Expr;

namespace {

using Values = std::unordered_map<const ir::ExprNode*, int64_t>;

// Evaluates an expression of integers and bools; nullopt if it depends on anything but the
// variables.
std::optional<int64_t> evaluate(const Expr& e, const Values& values);

std::optional<int64_t> evaluate(const Binary& n, const Values& values) {
  if (!n.a->type.is_scalar() || n.a->type.is_float()) return std::nullopt;
  const std::optional<int64_t> a = evaluate(n.a, values);
  if (!a) return std::nullopt;
  if (n.op == BinaryOp::And && *a == 0) return 0;
  if (n.op == BinaryOp::Or && *a != 0) return 1;
  const std::optional<int64_t> b = evaluate(n.b, values);
  if (!b || is_logical(n.op)) return b;
  const auto result = ir::apply(n.op, n.a->type, ir::scalar_of(*a), ir::scalar_of(*b));
  return result ? std::optional(result->integer) : std::nullopt;
}

std::optional<int64_t> evaluate(const Expr& e, const Values& values) {
  if (!e->type.is_scalar() || e->type.is_float()) return std::nullopt;
  if (const int64_t* constant = int_value(e)) return *constant;
  if (as<ir::Var>(e) != nullptr) {
    const auto found = values.find(e.get());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* n = as<Binary>(e)) return evaluate(*n, values);
  if (const auto* n = as<ir::Not>(e)) {
    const std::optional<int64_t> value = evaluate(n->value, values);
    return value ? std::optional<int64_t>(*value == 0 ? 1 : 0) : std::nullopt;
  }
  if (const auto* n = as<ir::Cast>(e)) {
    const std::optional<int64_t> value = evaluate(n->value, values);
    return value ? std::optional(ir::wrapped(*value, n->type)) : std::nullopt;
  }
  if (const auto* n = as<ir::Select>(e)) {
    const std::optional<int64_t> condition = evaluate(n->condition, values);
    if (!condition) return std::nullopt;
    return evaluate(*condition != 0 ? n->if_true : n->if_false, values);
  }
  return std::nullopt;
}

int64_t product(int64_t a, int64_t b) {
  return a != 0 && b > Count::kUnbounded / a ? Count::kUnbounded : a * b;
}

// Loops and conditions that share variables.
struct Group {
  std::vector<Expr> vars;
  std::vector<int64_t> extents;
  ir::Exprs conditions;

  int64_t cases() const {
    int64_t result = 1;
    for (const int64_t extent : extents) result = product(result, extent);
    return result;
  }
};

// The number of cases for which the conditions hold; nullopt if a condition cannot be evaluated.
std::optional<int64_t> count_cases(const Group& group) {
  Values values;
  for (const Expr& var : group.vars) values[var.get()] = 0;
  int64_t found = 0;
  for (int64_t left = group.cases(); left > 0; --left) {
    bool all = true;
    for (const Expr& condition : group.conditions) {
      const std::optional<int64_t> holds = evaluate(condition, values);
      if (!holds) return std::nullopt;
      if (all = *holds != 0; !all) break;
    }
    found += all ? 1 : 0;
    for (size_t i = group.vars.size(); i-- > 0;) {
      int64_t& value = values[group.vars[i].get()];
      if (++value < group.extents[i]) break;
      value = 0;
    }
  }
  return found;
}

bool shares_variable(const Expr& condition, const Group& group) {
  return std::any_of(group.vars.begin(), group.vars.end(),
                     [&](const Expr& var) { return uses_var(condition, var); });
}

// Merges the condition and all groups that share a variable with it into one group.
void join(std::vector<Group>& groups, const Expr& condition) {
  Group joined;
  joined.conditions.push_back(condition);
  std::vector<Group> others;
  for (Group& group : groups) {
    if (!shares_variable(condition, group)) {
      others.push_back(std::move(group));
      continue;
    }
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(joined.vars, group.vars);
    append(joined.extents, group.extents);
    append(joined.conditions, group.conditions);
  }
  others.push_back(std::move(joined));
  groups = std::move(others);
}

}  // namespace

Iterations Iterations::inside_loop(const Expr& var, const Expr& extent) const {
  Iterations inner = *this;
  const Expr known = substitute(extent, values_);
  if (const int64_t* constant = int_value(known)) {
    const int64_t times = std::max<int64_t>(*constant, 0);  // an extent below 0 means no iterations
    inner.loops_.push_back({var, times});
    inner.count_.value = product(count_.value, times);
  } else {
    inner.loops_.push_back({var, most(known)});
    inner.require(make_binary(BinaryOp::Lt, var, known));
    inner.recount();
  }
  return inner;
}

Iterations Iterations::under(const Expr& condition, bool holds) const {
  Iterations inner = *this;
  const Expr known = substitute(condition, values_);
  inner.require(holds ? known : make_not(known));
  inner.recount();
  return inner;
}

Iterations Iterations::with(const Expr& var, const Expr& value) const {
  Iterations inner = *this;
  inner.values_[var] = substitute(value, values_);
  return inner;
}

int64_t Iterations::most(const Expr& extent) const {
  ir::arith::Ranges ranges;
  for (const Loop& loop : loops_) ranges.set(loop.var, {0, loop.extent - 1});
  const ir::arith::Interval values = ir::arith::bounds(extent, ranges);
  return values.has_max() ? std::max<int64_t>(values.max, 0) : Count::kUnbounded;
}

void Iterations::require(const Expr& condition) {
  if (const auto* both = as<Binary>(condition); both != nullptr && both->op == BinaryOp::And) {
    require(both->a);
    require(both->b);
  } else {
    conditions_.push_back(condition);
  }
}

void Iterations::recount() {
  std::vector<Group> groups;
  for (const Loop& loop : loops_) groups.push_back({{loop.var}, {loop.extent}, {}});
  for (const Expr& condition : conditions_) join(groups, condition);
  count_ = {1, true};
  for (const Group& group : groups) {
    const int64_t cases = group.cases();
    std::optional<int64_t> found = cases;
    if (!group.conditions.empty()) {
      found.reset();
      if (cases <= kMaxTried - *tried_) {
        *tried_ += cases;
        found = count_cases(group);
      }
    }
    count_.exact &= found.has_value();
    count_.value = product(count_.value, found.value_or(cases));
  }
}

}  // namespace texloom::lower
