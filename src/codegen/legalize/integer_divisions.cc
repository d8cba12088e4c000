#include "codegen/legalize/integer_divisions.h"

#include <bit>

#include "ir/visit.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Expr;
using ir::Type;
using ir::arith::Interval;
using ir::arith::Ranges;

namespace {

class IntegerDivisions {
 public:
  explicit IntegerDivisions(const Ranges& ranges) : ranges_(ranges) {}

  ir::Stmt run(const ir::Stmt& body) {
    return rewrite(
        body, [&](const ir::Binary& n, const Expr& self) { return binary(n, self); },
        [&](const ir::Cast& n, const Expr& self) {
          if (!n.type.element().is_bool()) return self;
          return make_binary(BinaryOp::Ne, n.value, ir::make_const(0, n.value->type));
        });
  }

 private:
  Expr binary(const ir::Binary& n, const Expr& self) const {
    const Type operand = n.a->type;
    if (operand.is_float() || is_comparison(n.op) || is_logical(n.op)) return self;
    if (operand.element().is_bool()) return of_bools(n);
    return is_division(n.op) ? division(n, self) : self;
  }

  static Expr of_bools(const ir::Binary& n) {
    const Type wide = Type::u(32).with_lanes(n.type.lanes);
    const Expr result = make_binary(n.op, make_cast(wide, n.a), make_cast(wide, n.b));
    const Expr bit = make_binary(BinaryOp::BitAnd, result, ir::make_const(1, wide));
    return make_binary(BinaryOp::Ne, bit, ir::make_const(0, wide));
  }

  Expr division(const ir::Binary& n, const Expr& self) const {
    const bool remainder = n.op == BinaryOp::Mod || n.op == BinaryOp::FloorMod;
    if (const Expr divisor = remainder ? defined_divisor(n) : n.b; !divisor.same_as(n.b)) {
      return make_binary(n.op, n.a, divisor, n.location);
    }
    if (n.op == BinaryOp::Div || n.op == BinaryOp::Mod) return self;
    const bool quotient = n.op == BinaryOp::FloorDiv;
    if (n.type.is_uint() || (is_natural(n.a) && is_natural(n.b))) {
      return make_binary(quotient ? BinaryOp::Div : BinaryOp::Mod, n.a, n.b, n.location);
    }
    // Right shifts are arithmetic, so they round the quotients of negative numbers down.
    const auto* all = as<ir::Broadcast>(n.b);
    const int64_t* divisor = int_value(all != nullptr ? all->value : n.b);
    if (divisor == nullptr || *divisor <= 0 || !std::has_single_bit(uint64_t(*divisor)))
      return self;
    const int64_t operand = quotient ? std::countr_zero(uint64_t(*divisor)) : *divisor - 1;
    const Expr constant = make_broadcast(ir::make_int(operand, n.type.element()), n.type.lanes);
    return make_binary(quotient ? BinaryOp::Shr : BinaryOp::BitAnd, n.a, constant, n.location);
  }

  // The divisor, with 1 in place of -1. The remainder by either is 0, but the remainder of the
  // least number by -1 is undefined.
  Expr defined_divisor(const ir::Binary& n) const {
    if (n.type.is_uint()) return n.b;
    const Interval a = bounds(n.a, ranges_), b = bounds(n.b, ranges_);
    const bool is_least_known =
        n.type.bits < 64 && a.min > ir::arith::values_of(n.type.element()).min;
    if (b.min > -1 || b.max < -1 || is_least_known) return n.b;
    const Expr is_minus_one = make_binary(BinaryOp::Eq, n.b, ir::make_const(-1, n.type));
    return make_select(is_minus_one, ir::make_const(1, n.type), n.b);
  }

  // Whether the value is known not to be negative, without relying on overflow.
  bool is_natural(const Expr& e) const {
    const Interval interval = bounds(e, ranges_);
    const Interval values = ir::arith::values_of(e->type.element());
    return interval.min >= 0 && interval.bounded() && interval.within(values.min, values.max);
  }

  const Ranges& ranges_;
};

}  // namespace

ir::Stmt make_divisions_explicit(const ir::Stmt& body, const Ranges& ranges) {
  return IntegerDivisions(ranges).run(body);
}

}  // namespace texloom::codegen
