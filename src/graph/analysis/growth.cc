#include "graph/analysis/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "ir/equal.h"
#include "ir/visit.h"
#include "schedule/operation/order.h"
#include "support/check.h"

namespace texloom::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;

// Quotients by values that are not less than this are about as large as products with constants.
constexpr double kLeastDivisor = 1.0 / 1024;

class Evaluation {
 public:
  Evaluation(const Computation& computation, const std::vector<ValueRange>& inputs) {
    TL_CHECK(inputs.size() == computation.inputs.size(), "one range for each input");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      by_operation_[computation.inputs[i]->producer.get()] = inputs[i];
    for (const schedule::Op& op : schedule::operations_of(computation.outputs)) {
      if (op->is_compute()) by_operation_[op.get()] = of(op->body);
    }
  }

  ValueRange of_tensor(const ir::Tensor& tensor) const {
    const auto found = by_operation_.find(tensor->producer.get());
    return found == by_operation_.end() ? ValueRange() : found->second;
  }

 private:
  // Each shared expression is visited once.
  ValueRange of(const Expr& e) {
    const auto found = by_expression_.find(e.get());
    if (found != by_expression_.end()) return found->second;
    const ValueRange range = {.growth = growth_of_node(e), .least = least_of_node(e)};
    return by_expression_.emplace(e.get(), range).first->second;
  }

  Growth growth(const Expr& e) { return of(e).growth; }
  double least(const Expr& e) { return of(e).least; }

  Growth growth_of_node(const Expr& e) {
    return ir::visit(
        e, [](const ir::IntImm&) { return Growth::Scale; },
        [](const ir::FloatImm&) { return Growth::Scale; },
        [](const ir::Var&) { return Growth::Scale; },
        [&](const ir::TensorRead& read) { return of_tensor(read.tensor).growth; },
        [&](const ir::Cast& cast) { return growth(cast.value); },
        [&](const ir::Select& select) {
          return std::max(growth(select.if_true), growth(select.if_false));
        },
        [&](const ir::Fma& fma) {
          return std::max(product(growth(fma.a), growth(fma.b)), growth(fma.c));
        },
        [&](const ir::Tuple& tuple) {
          Growth largest = Growth::Scale;
          for (const Expr& each : tuple.elements) largest = std::max(largest, growth(each));
          return largest;
        },
        [&](const ir::Binary& binary) { return growth_of_binary(binary); },
        [&](const ir::Call& call) { return growth_of_call(call); },
        [](const auto&) { return Growth::Linear; });
  }

  static Growth product(Growth a, Growth b) {
    const bool grows = a == Growth::Linear && b == Growth::Linear;
    return grows ? Growth::Large : std::max(a, b);
  }

  static Growth quotient(Growth a, const ValueRange& b) {
    if (a == Growth::Large && b.growth == Growth::Large) return Growth::Linear;
    return b.least >= kLeastDivisor ? a : std::max(a, b.growth);
  }

  // The growth of 1 / sqrt(x).
  static Growth root_quotient(const ValueRange& x) {
    return std::min(quotient(Growth::Scale, x), Growth::Linear);
  }

  Growth growth_of_binary(const ir::Binary& binary) {
    const Growth a = growth(binary.a), b = growth(binary.b);
    switch (binary.op) {
      case BinaryOp::Mul:
        return product(a, b);
      case BinaryOp::Div:
        return quotient(a, of(binary.b));
      case BinaryOp::Min:
      case BinaryOp::Max:
        return is_clipped(binary) ? Growth::Scale : std::max(a, b);
      default:
        return std::max(a, b);
    }
  }

  // Whether the value is limited from both sides: min(max(x, low), high), in either order.
  bool is_clipped(const ir::Binary& outer) {
    const BinaryOp other = outer.op == BinaryOp::Min ? BinaryOp::Max : BinaryOp::Min;
    const auto limits = [&](const Expr& limit, const Expr& value) {
      if (growth(limit) != Growth::Scale) return false;
      const auto* inner = ir::as<ir::Binary>(value);
      return inner != nullptr && inner->op == other &&
             (growth(inner->a) == Growth::Scale || growth(inner->b) == Growth::Scale);
    };
    return limits(outer.a, outer.b) || limits(outer.b, outer.a);
  }

  Growth growth_of_call(const ir::Call& call) {
    Growth largest = Growth::Scale;
    for (const Expr& each : call.arguments) largest = std::max(largest, growth(each));
    switch (call.function) {
      case Intrinsic::Sin:
      case Intrinsic::Cos:
      case Intrinsic::NativeSin:
      case Intrinsic::NativeCos:
      case Intrinsic::Tanh:
      case Intrinsic::Asin:
      case Intrinsic::Acos:
      case Intrinsic::Atan:
      case Intrinsic::Atan2:
      case Intrinsic::Erf:
      case Intrinsic::Erfc:
        return Growth::Scale;
      case Intrinsic::Exp:
      case Intrinsic::Exp2:
      case Intrinsic::Exp10:
      case Intrinsic::NativeExp:
      case Intrinsic::NativeExp2:
      case Intrinsic::NativeExp10:
      case Intrinsic::Expm1:
      case Intrinsic::Sinh:
      case Intrinsic::Cosh:
      case Intrinsic::Tgamma:
      case Intrinsic::Ldexp:
        return largest == Growth::Scale ? Growth::Scale : Growth::Large;
      case Intrinsic::Power:
      case Intrinsic::NativePowr:
        return growth_of_power(call);
      case Intrinsic::Sqrt:
      case Intrinsic::Cbrt:
      case Intrinsic::Log:
      case Intrinsic::Log2:
      case Intrinsic::Log10:
      case Intrinsic::Log1p:
      case Intrinsic::NativeLog:
      case Intrinsic::NativeLog2:
      case Intrinsic::NativeLog10:
      case Intrinsic::NativeSqrt:
        return std::min(largest, Growth::Linear);
      case Intrinsic::Rsqrt:
      case Intrinsic::NativeRsqrt:
        return root_quotient(of(call.arguments[0]));
      case Intrinsic::NativeRecip:
        return quotient(Growth::Scale, of(call.arguments[0]));
      case Intrinsic::NativeDivide:
        return quotient(growth(call.arguments[0]), of(call.arguments[1]));
      default:
        return largest;
    }
  }

  Growth growth_of_power(const ir::Call& call) {
    const ValueRange base = of(call.arguments[0]);
    if (base.growth == Growth::Scale && growth(call.arguments[1]) == Growth::Scale)
      return Growth::Scale;
    const auto* exponent = ir::as<ir::FloatImm>(call.arguments[1]);
    if (exponent == nullptr || exponent->value > 1 || exponent->value < -1) return Growth::Large;
    if (exponent->value < -0.5) return quotient(Growth::Scale, base);
    if (exponent->value < 0) return root_quotient(base);
    return exponent->value > 0.5 ? base.growth : std::min(base.growth, Growth::Linear);
  }

  double least_of_node(const Expr& e) {
    const double found = ir::visit(
        e, [](const ir::IntImm& number) { return static_cast<double>(number.value); },
        [](const ir::FloatImm& number) { return number.value; },
        [&](const ir::TensorRead& read) { return of_tensor(read.tensor).least; },
        [&](const ir::Cast& cast) { return cast.type.is_float() ? least(cast.value) : kUnknown; },
        [&](const ir::Select& select) {
          return std::min(least(select.if_true), least(select.if_false));
        },
        [&](const ir::Fma& fma) { return least_of_product(fma.a, fma.b) + least(fma.c); },
        [&](const ir::Tuple& tuple) {
          double smallest = least(tuple.elements.front());
          for (const Expr& each : tuple.elements) smallest = std::min(smallest, least(each));
          return smallest;
        },
        [&](const ir::Binary& binary) { return least_of_binary(binary); },
        [&](const ir::Call& call) { return least_of_call(call); },
        [](const auto&) { return kUnknown; });
    return std::isfinite(found) ? found : kUnknown;
  }

  double least_of_product(const Expr& a, const Expr& b) {
    if (ir::equal(a, b)) return 0;
    return least(a) >= 0 && least(b) >= 0 ? least(a) * least(b) : kUnknown;
  }

  double least_of_binary(const ir::Binary& binary) {
    const double a = least(binary.a), b = least(binary.b);
    switch (binary.op) {
      case BinaryOp::Add:
        return a + b;
      case BinaryOp::Mul:
        return least_of_product(binary.a, binary.b);
      case BinaryOp::Div:
        return a >= 0 && b >= 0 ? 0 : kUnknown;
      case BinaryOp::Min:
        return std::min(a, b);
      case BinaryOp::Max:
        return std::max(a, b);
      default:
        return kUnknown;
    }
  }

  double least_of_call(const ir::Call& call) {
    const double first = least(call.arguments[0]);
    switch (call.function) {
      case Intrinsic::Exp:
      case Intrinsic::Exp2:
      case Intrinsic::Exp10:
      case Intrinsic::NativeExp:
      case Intrinsic::NativeExp2:
      case Intrinsic::NativeExp10:
      case Intrinsic::Abs:
      case Intrinsic::Erfc:
      case Intrinsic::Hypot:
        return 0;
      case Intrinsic::Sqrt:
      case Intrinsic::NativeSqrt:
        return std::sqrt(std::max(first, 0.0));
      case Intrinsic::Cosh:
        return 1;
      case Intrinsic::Tanh:
      case Intrinsic::Erf:
      case Intrinsic::Expm1:
      case Intrinsic::Sin:
      case Intrinsic::Cos:
      case Intrinsic::NativeSin:
      case Intrinsic::NativeCos:
        return -1;
      case Intrinsic::Power:
      case Intrinsic::NativePowr: {
        const auto* exponent = ir::as<ir::FloatImm>(call.arguments[1]);
        const bool is_even = exponent != nullptr && std::fmod(exponent->value, 2) == 0;
        return first >= 0 || is_even ? 0 : kUnknown;
      }
      default:
        return kUnknown;
    }
  }

  static constexpr double kUnknown = -std::numeric_limits<double>::infinity();

  std::map<const RefCounted*, ValueRange> by_operation_;
  std::unordered_map<const ir::ExprNode*, ValueRange> by_expression_;
};

}  // namespace

std::vector<ValueRange> value_ranges(const Computation& computation,
                                     const std::vector<ValueRange>& inputs) {
  const Evaluation evaluation(computation, inputs);
  std::vector<ValueRange> ranges;
  for (const ir::Tensor& output : computation.outputs)
    ranges.push_back(evaluation.of_tensor(output));
  return ranges;
}

}  // namespace texloom::graph
