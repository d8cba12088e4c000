#include "codegen/opencl/vector_conditions.h"

#include <unordered_map>

#include "ir/visit.h"

namespace texloom::codegen::opencl {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;
using ir::Type;

namespace {

constexpr Type kByte = Type::u(8);

bool is_condition(const Expr& e) { return e->type.element().is_bool() && !e->type.is_scalar(); }

Expr is_not_zero(const Expr& e) {
  return make_binary(BinaryOp::Ne, e, ir::make_const(0, e->type), e->location);
}

class ConditionShaper {
 public:
  Stmt stmt(const Stmt& s) {
    const auto* n = as<ir::Let>(s);
    if (n == nullptr || !is_condition(n->var)) {
      return map_children(
          s, [&](const Expr& e) { return value(e); },
          [&](const Stmt& child) { return stmt(child); });
    }
    const Expr var =
        make_var(as<ir::Var>(n->var)->name, kByte.with_lanes(n->var->type.lanes), n->var->location);
    bytes_.emplace(n->var, var);
    return make_let(var, number(n->value, kByte), stmt(n->body), n->location);
  }

 private:
  // Rewrites any expression except a vector of bools.
  Expr value(const Expr& e) {
    if (const auto found = done_.find(e); found != done_.end()) return found->second;
    Expr result = visit(
        e,
        [&](const ir::Select& n) {
          return select(n.condition, value(n.if_true), value(n.if_false));
        },
        [&](const ir::Cast& n) {
          return is_condition(n.value) ? number(n.value, n.type.element())
                                       : make_cast(n.type, value(n.value));
        },
        [&](const ir::Lane& n) {
          if (!is_condition(n.vector)) return make_lane(value(n.vector), n.index);
          return is_not_zero(make_lane(number(n.vector, kByte), n.index));
        },
        [&](const auto&) {
          return map_children(e, [&](const Expr& child) { return value(child); });
        });
    done_.emplace(e, result);
    return result;
  }

  // One condition for all lanes stays a scalar, so that only the chosen operand is evaluated;
  // OpenCL's select() evaluates both.
  Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
    const auto* broadcast = as<ir::Broadcast>(condition);
    const Expr& chooses = broadcast != nullptr ? broadcast->value : condition;
    return make_select(
        chooses->type.is_scalar() ? value(chooses) : this->condition(chooses, if_true->type.bits),
        if_true, if_false);
  }

  // The condition as a number: 0 or 1 in each lane.
  Expr number(const Expr& e, Type element) {
    if (const auto found = bytes_.find(e); found != bytes_.end()) {
      return make_cast(element.with_lanes(e->type.lanes), found->second);
    }
    const Type type = element.with_lanes(e->type.lanes);
    return make_select(condition(e, type.bits), ir::make_const(1, type), ir::make_const(0, type));
  }

  // The condition, as a comparison of elements of `bits` bits.
  Expr condition(const Expr& e, int bits) {
    const Type integer = Type::i(bits);
    return visit(
        e, [&](const ir::Binary& n) { return binary(n, bits); },
        [&](const ir::Not& n) { return make_not(condition(n.value, bits)); },
        [&](const ir::Select& n) {
          return is_not_zero(
              select(n.condition, number(n.if_true, integer), number(n.if_false, integer)));
        },
        [&](const ir::Broadcast& n) {
          return is_not_zero(make_broadcast(make_cast(integer, value(n.value)), n.type.lanes));
        },
        [&](const ir::Pack& n) {
          ir::Exprs elements;
          for (const Expr& each : n.elements) elements.push_back(make_cast(integer, value(each)));
          return is_not_zero(make_pack(elements));
        },
        [&](const ir::Var&) { return is_not_zero(number(e, integer)); },
        [&](const auto&) -> Expr { TL_UNREACHABLE(to_string(e)); });
  }

  Expr binary(const ir::Binary& n, int bits) {
    if (is_logical(n.op)) {
      return make_binary(n.op, condition(n.a, bits), condition(n.b, bits), n.location);
    }
    const bool of_conditions = is_condition(n.a);
    Expr a = of_conditions ? number(n.a, Type::i(bits)) : value(n.a);
    Expr b = of_conditions ? number(n.b, Type::i(bits)) : value(n.b);
    const Type compared = a->type;
    if (!compared.is_float() && compared.bits < bits) {
      const Type wide = Type{compared.code, static_cast<uint8_t>(bits), compared.lanes};
      a = make_cast(wide, a);
      b = make_cast(wide, b);
    }
    const Expr result = make_binary(n.op, a, b, n.location);
    if (a->type.bits == bits) return result;
    // The result as integers as wide as the compared elements, then converted to `bits` bits.
    const Type own = Type::i(compared.bits).with_lanes(compared.lanes);
    const Expr numbers = make_select(result, ir::make_const(1, own), ir::make_const(0, own));
    return is_not_zero(make_cast(Type::i(bits).with_lanes(compared.lanes), numbers));
  }

  std::unordered_map<Expr, Expr, RefHash, RefSame> done_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> bytes_;  // bool variables to uint8 ones
};

}  // namespace

Stmt shape_vector_conditions(const Stmt& body) { return ConditionShaper().stmt(body); }

}  // namespace texloom::codegen::opencl
