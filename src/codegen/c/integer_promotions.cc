#include "codegen/c/integer_promotions.h"

#include <unordered_map>

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

// A cast of `e`; the operand of `e` if `e` is the inverse cast and both types are equally wide.
Expr cast_to(Type type, const Expr& e) {
  const auto* inner = as<ir::Cast>(e);
  if (inner != nullptr && inner->type.bits == type.bits && inner->value->type == type) {
    return inner->value;
  }
  return make_cast(type, e);
}

class IntegerPromotions {
 public:
  explicit IntegerPromotions(const Ranges& ranges) : ranges_(ranges) {}

  ir::Stmt run(const ir::Stmt& body) {
    return rewrite(
        body, [&](const ir::Binary& n, const Expr& self) { return binary(n, self); },
        [&](const ir::Select& n, const Expr& self) { return select(n, self); });
  }

 private:
  Expr binary(const ir::Binary& n, const Expr& self) {
    const Type operand = n.a->type;
    if (operand.is_float() || is_comparison(n.op) || is_logical(n.op)) return self;
    if (operand.element().is_bool()) return self;
    if (may_overflow(n.op)) return wrapping(n, self);
    if (is_division(n.op)) return division(n, self);
    // Minimum and maximum are functions, whose operands C does not promote.
    if (n.op == BinaryOp::Min || n.op == BinaryOp::Max) return self;
    return in_32_bits(n, self);
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

  static Expr division(const ir::Binary& n, const Expr& self) {
    if (n.type.bits >= 32) return self;
    const Type wide = ir::kInt32.with_lanes(n.type.lanes);
    return make_cast(n.type,
                     make_binary(n.op, make_cast(wide, n.a), make_cast(wide, n.b), n.location));
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
  ir::Exprs keep_;  // keeps the keys of data_ alive, so that no address is reused
};

}  // namespace

ir::Stmt make_promotions_explicit(const ir::Stmt& body, const Ranges& ranges) {
  return IntegerPromotions(ranges).run(body);
}

}  // namespace texloom::codegen
