#include "graph/analysis/growth.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "ir/visit.h"
#include "schedule/operation/order.h"
#include "support/check.h"

namespace texloom::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;

class Evaluation {
 public:
  Evaluation(const Computation& computation, const std::vector<Growth>& inputs) {
    TL_CHECK(inputs.size() == computation.inputs.size(), "one growth for each input");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      by_operation_[computation.inputs[i]->producer.get()] = inputs[i];
    for (const schedule::Op& op : schedule::operations_of(computation.outputs)) {
      if (op->is_compute()) by_operation_[op.get()] = of(op->body);
    }
  }

  Growth of_tensor(const ir::Tensor& tensor) const {
    const auto found = by_operation_.find(tensor->producer.get());
    return found == by_operation_.end() ? Growth::Linear : found->second;
  }

 private:
  // Each shared expression is visited once.
  Growth of(const Expr& e) {
    const auto found = by_expression_.find(e.get());
    if (found != by_expression_.end()) return found->second;
    return by_expression_.emplace(e.get(), of_node(e)).first->second;
  }

  Growth of_node(const Expr& e) {
    return ir::visit(
        e, [](const ir::IntImm&) { return Growth::Scale; },
        [](const ir::FloatImm&) { return Growth::Scale; },
        [](const ir::Var&) { return Growth::Scale; },
        [&](const ir::TensorRead& read) { return of_tensor(read.tensor); },
        [&](const ir::Cast& cast) { return of(cast.value); },
        [&](const ir::Select& select) { return std::max(of(select.if_true), of(select.if_false)); },
        [&](const ir::Fma& fma) { return std::max(product(of(fma.a), of(fma.b)), of(fma.c)); },
        [&](const ir::Binary& binary) { return of_binary(binary); },
        [&](const ir::Call& call) { return of_call(call); },
        [](const auto&) { return Growth::Linear; });
  }

  static Growth product(Growth a, Growth b) {
    const bool grows = a == Growth::Linear && b == Growth::Linear;
    return grows ? Growth::Large : std::max(a, b);
  }

  static Growth quotient(Growth a, Growth b) {
    if (a == Growth::Scale) return b == Growth::Linear ? Growth::Linear : Growth::Scale;
    return b == Growth::Large ? Growth::Linear : a;
  }

  Growth of_binary(const ir::Binary& binary) {
    const Growth a = of(binary.a), b = of(binary.b);
    switch (binary.op) {
      case BinaryOp::Mul:
        return product(a, b);
      case BinaryOp::Div:
        return quotient(a, b);
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
      if (of(limit) != Growth::Scale) return false;
      const auto* inner = ir::as<ir::Binary>(value);
      return inner != nullptr && inner->op == other &&
             (of(inner->a) == Growth::Scale || of(inner->b) == Growth::Scale);
    };
    return limits(outer.a, outer.b) || limits(outer.b, outer.a);
  }

  Growth of_call(const ir::Call& call) {
    Growth largest = Growth::Scale;
    for (const Expr& each : call.arguments) largest = std::max(largest, of(each));
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
        return of_power(call);
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
      default:
        return largest;
    }
  }

  Growth of_power(const ir::Call& call) {
    const Growth base = of(call.arguments[0]);
    if (base == Growth::Scale && of(call.arguments[1]) == Growth::Scale) return Growth::Scale;
    const auto* exponent = ir::as<ir::FloatImm>(call.arguments[1]);
    if (exponent == nullptr || exponent->value > 1) return Growth::Large;
    return exponent->value > 0.5 ? base : std::min(base, Growth::Linear);
  }

  std::map<const RefCounted*, Growth> by_operation_;
  std::unordered_map<const ir::ExprNode*, Growth> by_expression_;
};

}  // namespace

Growth growth_of(const Computation& computation, const std::vector<Growth>& inputs) {
  return Evaluation(computation, inputs).of_tensor(computation.outputs.front());
}

}  // namespace texloom::graph
