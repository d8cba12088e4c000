#include "ir/build/type_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace texloom::ir {
namespace {

constexpr TypeProblem kNone;

TypeProblem lane_count_problem(int lanes) {
  if (lanes >= 2 && lanes <= kMaxLanes) return kNone;
  return {.format = "a vector has 2 to {n} lanes, not {m}", .m = lanes, .n = kMaxLanes};
}

TypeProblem scalar_index_problem(const char* format, Type type) {
  return is_scalar_index(type) ? kNone : TypeProblem{.format = format, .a = type};
}

}  // namespace

std::string to_string(const TypeProblem& problem) {
  if (!problem) return {};
  return fmt::format(fmt::runtime(problem.format), fmt::arg("a", to_string(problem.a)),
                     fmt::arg("b", to_string(problem.b)), fmt::arg("m", problem.m),
                     fmt::arg("n", problem.n));
}

TypeProblem same_type_problem(Type a, Type b) {
  return a == b ? kNone : TypeProblem{.format = "the operands are {a} and {b}", .a = a, .b = b};
}

TypeProblem same_type_problem(const Exprs& operands) {
  for (const Expr& e : operands) {
    if (e->type != operands.front()->type) {
      return same_type_problem(operands.front()->type, e->type);
    }
  }
  return kNone;
}

TypeProblem not_problem(Type operand) {
  if (operand.element().is_bool()) return kNone;
  return {.format = "the operand is {a}, not bool", .a = operand};
}

TypeProblem select_problem(Type condition, Type if_true, Type if_false) {
  if (!condition.element().is_bool()) {
    return {.format = "the condition is {a}, not bool", .a = condition};
  }
  if (if_true != if_false) return same_type_problem(if_true, if_false);
  if (condition.is_scalar() || condition.lanes == if_true.lanes) return kNone;
  return {.format = "the condition has {m} lanes, the values have {n}",
          .m = condition.lanes,
          .n = if_true.lanes};
}

TypeProblem cast_problem(Type from, Type to) {
  if (from.lanes == to.lanes) return kNone;
  return {.format = "{a} cannot be converted to {b}, which has other lanes", .a = from, .b = to};
}

TypeProblem call_problem(Intrinsic function, const Exprs& arguments) {
  const int arity = info(function).arity;
  if (static_cast<int>(arguments.size()) != arity) {
    return {.format = "the function has {m} arguments and takes {n}",
            .m = static_cast<int>(arguments.size()),
            .n = arity};
  }
  if (const TypeProblem problem = same_type_problem(arguments)) return problem;
  const Type type = arguments.front()->type;
  if (takes(function, type)) return kNone;
  return {.format = "the function does not take {a}", .a = type};
}

TypeProblem fma_problem(Type a, Type b, Type c) {
  if (a != b || a != c) return same_type_problem(a, a != b ? b : c);
  return a.is_float() ? kNone : TypeProblem{.format = "the operands are {a}, not floats", .a = a};
}

TypeProblem ramp_problem(Type base, Type stride, int lanes) {
  if (base != stride) return same_type_problem(base, stride);
  if (const auto problem =
          scalar_index_problem("the operands are {a}, not scalars of type int32 or int64", base)) {
    return problem;
  }
  return lane_count_problem(lanes);
}

TypeProblem broadcast_problem(Type value, int lanes) {
  if (!value.is_scalar()) return {.format = "the operand is {a}, not a scalar", .a = value};
  return lane_count_problem(lanes);
}

TypeProblem lane_problem(Type vector, Type index) {
  if (vector.is_scalar()) return {.format = "{a} is a scalar, which has no lanes", .a = vector};
  return scalar_index_problem("the lane number is {a}, not a scalar of type int32 or int64", index);
}

TypeProblem pack_problem(const Exprs& elements) {
  if (const auto problem = lane_count_problem(static_cast<int>(elements.size()))) return problem;
  if (const auto problem = same_type_problem(elements)) return problem;
  const Type type = elements.front()->type;
  if (type.is_scalar()) return kNone;
  return {.format = "the elements are {a}, not scalars", .a = type};
}

int access_lanes(const Exprs& indices) {
  int lanes = 1;
  for (const Expr& index : indices) lanes = std::max<int>(lanes, index->type.lanes);
  return lanes;
}

TypeProblem access_problem(const Exprs& indices, Type value) {
  int lanes = 1;
  for (const Expr& index : indices) {
    const int own = index->type.lanes;
    if (lanes > 1 && own > 1 && own != lanes) {
      return {.format = "the indices are vectors of {m} and {n} lanes", .m = lanes, .n = own};
    }
    if (own > 1) lanes = own;
  }
  if (value.lanes == lanes) return kNone;
  return {.format = "the value has {m} lanes, the index has {n}", .m = value.lanes, .n = lanes};
}

TypeProblem texel_problem(const Expr& x, const Expr& y, Type value) {
  if (value.lanes != kTexelLanes) {
    return {.format = "a texel has {n} lanes, not {m}", .m = value.lanes, .n = kTexelLanes};
  }
  for (const Expr* coordinate : {&x, &y}) {
    if (const auto problem = scalar_index_problem(
            "a coordinate is {a}, not a scalar of type int32 or int64", (*coordinate)->type)) {
      return problem;
    }
  }
  return kNone;
}

TypeProblem guard_problem(Type condition) {
  if (condition == kBool) return kNone;
  return {.format = "the condition is {a}, not bool", .a = condition};
}

}  // namespace texloom::ir
