#include "ir/arith/order.h"

#include "ir/arith/simplify.h"

namespace texloom::ir::arith {
namespace {

enum class Side : uint8_t { Below, Above };

Side opposite(Side side) { return side == Side::Below ? Side::Above : Side::Below; }

bool proven(const Expr& e, Side side, const Expr& limit, const Ranges& ranges);

bool at_least(const Expr& e, int64_t value, const Ranges& ranges) {
  return proven(e, Side::Above, make_int(value - 1, e->type), ranges);
}

// Excludes operands from memory: a sum of them may overflow, so that bounds of the operands do not
// bound the sum.
bool is_index_sum(const Binary& n, const Ranges& ranges) {
  return !reads_memory(n.a, ranges) && !reads_memory(n.b, ranges);
}

// Either of a < limit - b and b < limit - a proves a + b < limit.
bool sum_proven(const Binary& n, Side side, const Expr& limit, const Ranges& ranges) {
  const auto operand = [&](const Expr& e, Side of, const Expr& rest) {
    return as<Var>(e) == nullptr && as<IntImm>(e) == nullptr && proven(e, of, rest, ranges);
  };
  if (n.op == BinaryOp::Add) {
    return operand(n.a, side, limit - n.b) || operand(n.b, side, limit - n.a);
  }
  return operand(n.a, side, limit + n.b) || operand(n.b, opposite(side), n.a - limit);
}

// For positive divisors: a // c < limit if a < limit * c.
bool quotient_proven(const Binary& n, Side side, const Expr& limit, const Ranges& ranges) {
  const int64_t* divisor = int_value(n.b);
  if (divisor == nullptr || *divisor <= 0) return false;
  return side == Side::Below ? proven(n.a, side, limit * n.b, ranges)
                             : proven(n.a, side, (limit + 1) * n.b - 1, ranges);
}

// A remainder by a positive divisor is less than the divisor, and at most a dividend that is not
// negative.
bool remainder_proven(const Binary& n, Side side, const Expr& limit, const Ranges& ranges) {
  if (reads_memory(n.b, ranges) || !at_least(n.b, 1, ranges)) return false;
  if (side == Side::Above) return prove(limit < make_int(0, limit->type), ranges);
  return prove(n.b <= limit, ranges) ||
         (at_least(n.a, 0, ranges) && proven(n.a, side, limit, ranges));
}

bool part_proven(const Binary& n, Side side, const Expr& limit, const Ranges& ranges) {
  const auto operand = [&](const Expr& e) { return proven(e, side, limit, ranges); };
  switch (n.op) {
    case BinaryOp::Min:
      return side == Side::Below ? operand(n.a) || operand(n.b) : operand(n.a) && operand(n.b);
    case BinaryOp::Max:
      return side == Side::Below ? operand(n.a) && operand(n.b) : operand(n.a) || operand(n.b);
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return is_index_sum(n, ranges) && sum_proven(n, side, limit, ranges);
    case BinaryOp::FloorDiv:
      return is_index_sum(n, ranges) && quotient_proven(n, side, limit, ranges);
    case BinaryOp::FloorMod:
      return remainder_proven(n, side, limit, ranges);
    default:
      return false;
  }
}

bool proven(const Expr& e, Side side, const Expr& limit, const Ranges& ranges) {
  if (prove(side == Side::Below ? e < limit : limit < e, ranges)) return true;
  if (const auto* n = as<Binary>(e)) return part_proven(*n, side, limit, ranges);
  if (const auto* n = as<Select>(e)) {
    Ranges where_true = ranges, where_false = ranges;
    where_true.assume(n->condition);
    where_false.assume(n->condition, false);
    return proven(n->if_true, side, limit, where_true) &&
           proven(n->if_false, side, limit, where_false);
  }
  return false;
}

}  // namespace

bool prove_less(const Expr& e, const Expr& limit, const Ranges& ranges) {
  return proven(simplify(e, ranges), Side::Below, limit, ranges);
}

bool prove_greater(const Expr& e, const Expr& limit, const Ranges& ranges) {
  return proven(simplify(e, ranges), Side::Above, limit, ranges);
}

}  // namespace texloom::ir::arith
