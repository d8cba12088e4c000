#include "codegen/llvm/plugin/math/real.h"

#include <llvm/IR/Intrinsics.h>

#include <bit>
#include <cmath>

#include "codegen/llvm/plugin/math/scaling.h"

namespace texloom::codegen::native::math {

namespace {

llvm::IRBuilder<>& at(const Arithmetic* in) { return in->builder(); }

llvm::Constant* integer(const Arithmetic* in, uint64_t value) {
  return llvm::ConstantInt::get(in->bits_type(), value);
}

uint64_t sign_bit(const Arithmetic* in) { return uint64_t{1} << in->by_type(31, 63); }

// The numbers around it are integers, and their lowest bits are those of what was added.
double integer_anchor(const Arithmetic* in) { return std::ldexp(1.5, in->digits() - 1); }

// The upper half of the digits (Veltkamp, 1968).
Real upper_half(Real a) {
  const Real wide = a * (std::ldexp(1.0, (a.in->digits() + 1) / 2) + 1);
  return wide - (wide - a);
}

}  // namespace

Real number(const Arithmetic& in, double value) {
  return {&in, llvm::ConstantFP::get(in.type(), value)};
}

Real operator+(Real a, Real b) { return {a.in, at(a.in).CreateFAdd(a.value, b.value)}; }
Real operator-(Real a, Real b) { return {a.in, at(a.in).CreateFSub(a.value, b.value)}; }
Real operator*(Real a, Real b) { return {a.in, at(a.in).CreateFMul(a.value, b.value)}; }
Real operator/(Real a, Real b) { return {a.in, at(a.in).CreateFDiv(a.value, b.value)}; }
Real operator-(Real a) { return {a.in, at(a.in).CreateFNeg(a.value)}; }

Mask operator<(Real a, Real b) { return {a.in, at(a.in).CreateFCmpOLT(a.value, b.value)}; }
Mask operator<=(Real a, Real b) { return {a.in, at(a.in).CreateFCmpOLE(a.value, b.value)}; }
Mask operator==(Real a, Real b) { return {a.in, at(a.in).CreateFCmpOEQ(a.value, b.value)}; }
Mask operator!=(Real a, Real b) { return {a.in, at(a.in).CreateFCmpUNE(a.value, b.value)}; }

Mask operator&(Mask a, Mask b) { return {a.in, at(a.in).CreateAnd(a.value, b.value)}; }
Mask operator|(Mask a, Mask b) { return {a.in, at(a.in).CreateOr(a.value, b.value)}; }
Mask operator^(Mask a, Mask b) { return {a.in, at(a.in).CreateXor(a.value, b.value)}; }
Mask operator!(Mask a) { return {a.in, at(a.in).CreateNot(a.value)}; }

Real select(Mask condition, Real if_true, Real if_false) {
  return {condition.in,
          at(condition.in).CreateSelect(condition.value, if_true.value, if_false.value)};
}

Bits bits_of(Real a) { return {a.in, at(a.in).CreateBitCast(a.value, a.in->bits_type())}; }
Real real_of(Bits a) { return {a.in, at(a.in).CreateBitCast(a.value, a.in->type())}; }
Bits operator+(Bits a, uint64_t b) { return {a.in, at(a.in).CreateAdd(a.value, integer(a.in, b))}; }
Bits operator-(Bits a, Bits b) { return {a.in, at(a.in).CreateSub(a.value, b.value)}; }
Bits operator&(Bits a, uint64_t b) { return {a.in, at(a.in).CreateAnd(a.value, integer(a.in, b))}; }
Bits operator|(Bits a, uint64_t b) { return {a.in, at(a.in).CreateOr(a.value, integer(a.in, b))}; }
Bits operator^(Bits a, Bits b) { return {a.in, at(a.in).CreateXor(a.value, b.value)}; }
Bits operator<<(Bits a, int count) {
  return {a.in, at(a.in).CreateShl(a.value, static_cast<uint64_t>(count))};
}
Bits operator>>(Bits a, int count) {
  return {a.in, at(a.in).CreateLShr(a.value, static_cast<uint64_t>(count))};
}
Mask is_odd(Bits a) { return {a.in, at(a.in).CreateICmpNE((a & 1).value, integer(a.in, 0))}; }
Mask is_negative(Real a) {
  return {a.in, at(a.in).CreateICmpSLT(bits_of(a).value, integer(a.in, 0))};
}
uint64_t bits_of(const Arithmetic& in, double value) {
  return in.is_double() ? std::bit_cast<uint64_t>(value)
                        : std::bit_cast<uint32_t>(static_cast<float>(value));
}

Real abs(Real a) { return {a.in, at(a.in).CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a.value)}; }
Real sqrt(Real a) { return {a.in, at(a.in).CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a.value)}; }
Real with_sign(Real a, Real b) {
  return {a.in, at(a.in).CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a.value, b.value)};
}
Real negative_where(Mask condition, Real a) {
  llvm::Value* sign =
      at(a.in).CreateSelect(condition.value, integer(a.in, sign_bit(a.in)), integer(a.in, 0));
  return real_of(bits_of(a) ^ Bits{a.in, sign});
}
Real at_most(Real a, double limit) { return select(a > limit, limit, a); }
Real at_least(Real a, double limit) { return select(a < limit, limit, a); }

Real multiply_add(Real a, Real b, Real c) {
  if (!a.in->has_fma()) return a * b + c;
  return {a.in, at(a.in).CreateIntrinsic(llvm::Intrinsic::fma, {a.in->type()},
                                         {a.value, b.value, c.value})};
}

Pair exact_sum(Real a, Real b) {
  const Real sum = a + b;
  const Real of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

Pair exact_sum_ordered(Real a, Real b) {
  const Real sum = a + b;
  return {sum, b - (sum - a)};
}

Pair exact_product(Real a, Real b) {
  const Real product = a * b;
  if (a.in->has_fma()) return {product, multiply_add(a, b, -product)};
  const Real a_high = upper_half(a), b_high = upper_half(b);
  const Real a_low = a - a_high, b_low = b - b_high;
  const Real rest = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high;
  return {product, rest + a_low * b_low};
}

Real nearest(Real a) {
  const double anchor = integer_anchor(a.in);
  return (a + anchor) - anchor;
}

Integer nearest(Real a, double factor) {
  const double anchor = integer_anchor(a.in);
  const Real anchored = multiply_add(a, factor, number(*a.in, anchor));
  return {anchored - anchor, bits_of(anchored)};
}

Real power_of_2(Real k) {
  return real_of(bits_of(k + (integer_anchor(k.in) + k.in->bias())) << (k.in->digits() - 1));
}

// Above the lowest bits, those of the anchor leave no trace in the exponent.
Real power_of_2(Bits k) { return real_of((k << (k.in->digits() - 1)) + bits_of(*k.in, 1)); }

Real scaled(Real a, Real k) {
  const Real half = nearest(k * 0.5);
  return a * power_of_2(half) * power_of_2(k - half);
}

Real scaled(Real a, Integer k) {
  if (a.in->processor().has_scaling && has_scaling(a.in->type()))
    return {a.in, scale(at(a.in), a.value, k.value.value)};
  const Bits half = k.bits >> 1;
  return a * power_of_2(half) * power_of_2(k.bits - half);
}

Real evaluate(std::span<const double> all, Real x) {
  Real sum = number(*x.in, all.back());
  for (size_t i = all.size() - 1; i-- > 0;) sum = multiply_add(sum, x, all[i]);
  return sum;
}

Real evaluate(const Polynomial& polynomial, Real x) {
  return evaluate(x.in->is_coarse() ? polynomial.coarse : polynomial.fine, x);
}

}  // namespace texloom::codegen::native::math
