#include "codegen/legalize/integer_arithmetic.h"

#include <bit>
#include <unordered_map>

#include "ir/analysis/symbolic_extents.h"
#include "ir/visit.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Expr;
using ir::Type;
using ir::arith::Interval;
using ir::arith::Ranges;

namespace {

bool may_overflow(BinaryOp op) {
  return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Shl;
}

// Whether the signed type can represent all values of the interval.
bool holds(Type type, Interval interval) {
  const Interval values = ir::arith::values_of(type.element());
  return interval.bounded() && interval.within(values.min, values.max);
}

// Casts; a cast that undoes a cast between integers of the same width is removed instead.
Expr cast_to(Type type, const Expr& e) {
  const auto* inner = as<ir::Cast>(e);
  if (inner != nullptr && inner->type.bits == type.bits && inner->value->type == type) {
    return inner->value;
  }
  return make_cast(type, e);
}

class IntegerArithmetic {
 public:
  explicit IntegerArithmetic(const Ranges& ranges) : ranges_(ranges) {}

  ir::Stmt run(const ir::Stmt& body) {
    return rewrite(
        body, [&](const ir::Binary& n, const Expr& self) { return binary(n, self); },
        [&](const ir::Select& n, const Expr& self) { return select(n, self); },
        [&](const ir::Cast& n, const Expr& self) {
          if (!n.type.element().is_bool()) return self;
          return make_binary(BinaryOp::Ne, n.value, ir::make_const(0, n.value->type));
        });
  }

 private:
  Expr binary(const ir::Binary& n, const Expr& self) {
    const Type operand = n.a->type;
    if (operand.is_float() || is_comparison(n.op) || is_logical(n.op)) return self;
    if (operand.element().is_bool()) return of_bools(n);
    if (may_overflow(n.op)) return wrapping(n, self);
    if (is_division(n.op)) return division(n, self);
    // Minimum and maximum are functions, whose operands C does not promote.
    if (n.op == BinaryOp::Min || n.op == BinaryOp::Max) return self;
    return in_32_bits(n, self);
  }

  Expr of_bools(const ir::Binary& n) {
    const Type wide = Type::u(32).with_lanes(n.type.lanes);
    const Expr result = make_binary(n.op, make_cast(wide, n.a), make_cast(wide, n.b));
    const Expr bit = make_binary(BinaryOp::BitAnd, result, ir::make_const(1, wide));
    return make_binary(BinaryOp::Ne, bit, ir::make_const(0, wide));
  }

  Expr wrapping(const ir::Binary& n, const Expr& self) {
    const Type type = n.type;
    const bool promoted = type.is_scalar() && type.bits < 32;
    if (!promoted && (type.is_uint() || fits(n, self))) return self;
    const Type wide = Type::u(promoted ? 32 : type.bits).with_lanes(type.lanes);
    return make_cast(type, make_binary(n.op, cast_to(wide, n.a), cast_to(wide, n.b), n.location));
  }

  // Whether the type can represent the exact result, so that nothing wraps.
  bool fits(const ir::Binary& n, const Expr& self) {
    if (n.type.bits >= 32 && !is_data(self)) return true;
    const Interval a = bounds(n.a, ranges_), b = bounds(n.b, ranges_);
    switch (n.op) {
      case BinaryOp::Add:
        return holds(n.type, a + b);
      case BinaryOp::Sub:
        return holds(n.type, a - b);
      case BinaryOp::Mul:
        return holds(n.type, a * b);
      default:
        return false;
    }
  }

  Expr division(const ir::Binary& n, const Expr& self) {
    if (n.type.bits >= 32) return floored(n, self);
    const Type wide = ir::kInt32.with_lanes(n.type.lanes);
    const Expr result = make_binary(n.op, make_cast(wide, n.a), make_cast(wide, n.b), n.location);
    const auto* operation = as<ir::Binary>(result);  // not a constant, nor a division by 1
    return make_cast(n.type, operation == nullptr ? result : floored(*operation, result));
  }

  Expr floored(const ir::Binary& n, const Expr& self) {
    const bool remainder = n.op == BinaryOp::Mod || n.op == BinaryOp::FloorMod;
    if (const Expr divisor = remainder ? defined_divisor(n) : n.b; !divisor.same_as(n.b)) {
      return make_binary(n.op, n.a, divisor, n.location);
    }
    if (n.op == BinaryOp::Div || n.op == BinaryOp::Mod) return self;
    const bool quotient = n.op == BinaryOp::FloorDiv;
    if (n.type.is_uint() || (is_natural(n.a) && is_natural(n.b))) {
      return make_binary(quotient ? BinaryOp::Div : BinaryOp::Mod, n.a, n.b, n.location);
    }
    // OpenCL C shifts negative numbers right arithmetically.
    const auto* all = as<ir::Broadcast>(n.b);
    const int64_t* divisor = int_value(all != nullptr ? all->value : n.b);
    if (divisor == nullptr || *divisor <= 0 || !std::has_single_bit(uint64_t(*divisor)))
      return self;
    const int64_t operand = quotient ? std::countr_zero(uint64_t(*divisor)) : *divisor - 1;
    const Expr constant = make_broadcast(ir::make_int(operand, n.type.element()), n.type.lanes);
    return make_binary(quotient ? BinaryOp::Shr : BinaryOp::BitAnd, n.a, constant, n.location);
  }

  // The divisor, or 1 instead of -1: the remainder is 0, but C does not define that of the least
  // number by -1.
  Expr defined_divisor(const ir::Binary& n) const {
    if (n.type.is_uint()) return n.b;
    const Interval a = bounds(n.a, ranges_), b = bounds(n.b, ranges_);
    if (b.min > -1 || b.max < -1 || (n.type.bits == 32 && a.min > INT32_MIN)) return n.b;
    const Expr is_minus_one = make_binary(BinaryOp::Eq, n.b, ir::make_const(-1, n.type));
    return make_select(is_minus_one, ir::make_const(1, n.type), n.b);
  }

  // Whether the value is known not to be negative, without relying on overflow.
  bool is_natural(const Expr& e) const {
    const Interval interval = bounds(e, ranges_);
    return interval.min >= 0 && holds(e->type, interval);
  }

  Expr in_32_bits(const ir::Binary& n, const Expr& self) {
    if (!n.type.is_scalar() || n.type.bits >= 32) return self;
    return make_cast(n.type, make_binary(n.op, make_cast(ir::kInt32, n.a),
                                         make_cast(ir::kInt32, n.b), n.location));
  }

  static Expr select(const ir::Select& n, const Expr& self) {
    if (!n.type.is_integer() || !n.type.is_scalar() || n.type.bits >= 32) return self;
    return make_cast(n.type, make_select(n.condition, make_cast(ir::kInt32, n.if_true),
                                         make_cast(ir::kInt32, n.if_false)));
  }

  // Whether the expression uses a value from memory; otherwise it is index arithmetic.
  bool is_data(const Expr& e) {
    if (const auto found = data_.find(e.get()); found != data_.end()) return found->second;
    bool found = e->kind == ir::ExprKind::Load || e->kind == ir::ExprKind::TextureLoad ||
                 e->kind == ir::ExprKind::ForeignCall || ranges_.holds_memory(e.get());
    for_each_child(e, [&](const Expr& child) { found = is_data(child) || found; });
    keep_.push_back(e);
    data_.emplace(e.get(), found);
    return found;
  }

  const Ranges& ranges_;
  std::unordered_map<const ir::ExprNode*, bool> data_;
  ir::Exprs keep_;  // alive, so that no address is used again
};

}  // namespace

ir::Stmt make_integers_explicit(const ir::Stmt& body, const Ranges& ranges) {
  return IntegerArithmetic(ranges).run(body);
}

Ranges ranges_of(const ir::Kernel& kernel) {
  Ranges ranges = ir::ranges_of_params(kernel);
  for (const ir::ThreadAxis& axis : kernel.axes) ranges.enter(axis.var, axis.extent);
  // Parents first: extents and values use variables that are already known.
  walk_statements(
      kernel.body, [&](const ir::For& n) { ranges.enter_also(n); },
      [&](const ir::Let& n) {
        ranges.widen(n.var, bounds(n.value, ranges));
        if (reads_memory(n.value, ranges)) ranges.set_memory(n.var);
      },
      [&](const ir::Shuffle& n) { ranges.set_memory(n.var); });
  return ranges;
}

}  // namespace texloom::codegen
