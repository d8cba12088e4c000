#include "ir/arith/modular.h"

#include <limits>
#include <numeric>

#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "support/floor_division.h"
#include "support/int128.h"

namespace texloom::ir::arith {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max() / 4;

bool fits(int128 value) { return value <= kLargest && value >= -kLargest; }

int128 gcd(int128 a, int128 b) {
  while (b != 0) {
    const int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

// The values with this modulus and residue; all integers if either number is too large to store.
Modular checked(int128 modulus, int128 residue) {
  if (!fits(modulus)) return Modular::everything();
  if (modulus != 0) residue %= modulus;
  if (!fits(residue)) return Modular::everything();
  return Modular::of(static_cast<int64_t>(modulus), static_cast<int64_t>(residue));
}

// The divisors below are positive constants.
Modular floor_quotient(Modular a, int64_t divisor) {
  if (a.modulus % divisor != 0) return Modular::everything();
  return Modular::of(a.modulus / divisor, floor_div(a.residue, divisor));
}
Modular floor_remainder(Modular a, int64_t divisor) {
  if (a.modulus % divisor == 0) return Modular::point(floor_mod(a.residue, divisor));
  return Modular::of(std::gcd(a.modulus, divisor), a.residue);
}
// Rounds toward zero. Known for a constant dividend and for an exact division.
Modular truncated_quotient(Modular a, int64_t divisor) {
  if (a.modulus == 0) return Modular::point(a.residue / divisor);
  return a.is_multiple_of(divisor) ? floor_quotient(a, divisor) : Modular::everything();
}
Modular truncated_remainder(Modular a, int64_t divisor) {
  if (a.modulus == 0) return Modular::point(a.residue % divisor);
  if (a.is_multiple_of(divisor)) return Modular::point(0);
  return Modular::of(std::gcd(a.modulus, divisor), a.residue);
}

Modular modular_of_binary(const Binary& n, const Ranges& ranges) {
  const Modular a = modular(n.a, ranges);
  const Modular b = modular(n.b, ranges);
  const bool positive_divisor = b.modulus == 0 && b.residue > 0;
  switch (n.op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a + b * Modular::point(-1);
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Min:
    case BinaryOp::Max:
      return join(a, b);
    case BinaryOp::FloorDiv:
      return positive_divisor ? floor_quotient(a, b.residue) : Modular::everything();
    case BinaryOp::FloorMod:
      return positive_divisor ? floor_remainder(a, b.residue) : Modular::everything();
    case BinaryOp::Div:
      return positive_divisor ? truncated_quotient(a, b.residue) : Modular::everything();
    case BinaryOp::Mod:
      return positive_divisor ? truncated_remainder(a, b.residue) : Modular::everything();
    default:
      return Modular::everything();
  }
}

}  // namespace

Modular Modular::of(int64_t modulus, int64_t residue) {
  if (modulus < 0) return everything();
  return {modulus, modulus == 0 ? residue : floor_mod(residue, modulus)};
}

Modular join(Modular a, Modular b) {
  const int128 distance = static_cast<int128>(a.residue) - b.residue;
  return checked(gcd(gcd(a.modulus, b.modulus), distance), a.residue);
}

Modular operator+(Modular a, Modular b) {
  return checked(std::gcd(a.modulus, b.modulus), static_cast<int128>(a.residue) + b.residue);
}

// (m*k + r) * (n*l + s) = m*n*(k*l) + m*s*k + n*r*l + r*s
Modular operator*(Modular a, Modular b) {
  const int128 m = a.modulus, n = b.modulus;
  return checked(gcd(gcd(m * n, m * b.residue), n * a.residue),
                 static_cast<int128>(a.residue) * b.residue);
}

Modular modular(const Expr& e, const Ranges& ranges) {
  if (!e->type.is_int() || !e->type.is_scalar() || e->type.bits < 32) return Modular::everything();
  return visit(
      e, [](const IntImm& n) { return Modular::point(n.value); },
      [&](const Var& n) { return ranges.modular_of(&n); },
      [&](const Binary& n) { return modular_of_binary(n, ranges); },
      [&](const Select& n) {
        return join(modular(n.if_true, ranges), modular(n.if_false, ranges));
      },
      [&](const Cast& n) {
        const bool widens = n.value->type.bits <= n.type.bits;
        return widens ? modular(n.value, ranges) : Modular::everything();
      },
      [](const auto&) { return Modular::everything(); });
}

}  // namespace texloom::ir::arith
