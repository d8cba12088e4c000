// Arithmetic of floating-point numbers for the definitions of math functions: formulas of Real are
// emitted as LLVM's instructions, for scalars and for vectors of any width.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <span>

namespace texloom::codegen::native::math {

// What the processor has instructions for: fused products, whose absence decides how rounding
// errors of products are computed; roundings to integers; products of floats with powers of 2.
struct Processor {
  bool has_fma, has_roundings, has_scaling;
};

// What the formulas of one function are computed in.
class Arithmetic {
 public:
  // Formulas are computed in `type`: float or double, or vectors of these. A function is `coarse`
  // if a relative error of 2^-28 is small enough, because its result becomes a float.
  Arithmetic(llvm::IRBuilder<>& builder, llvm::Type* type, bool coarse, const Processor& processor)
      : builder_(builder), type_(type), coarse_(coarse), processor_(processor) {}

  llvm::IRBuilder<>& builder() const { return builder_; }
  llvm::Type* type() const { return type_; }
  llvm::Type* bits_type() const {
    return type_->getWithNewType(builder_.getIntNTy(is_double() ? 64 : 32));
  }
  bool is_double() const { return type_->getScalarType()->isDoubleTy(); }
  bool is_coarse() const { return coarse_; }
  const Processor& processor() const { return processor_; }
  bool has_fma() const { return processor_.has_fma; }

  // The constant for float32 or for float64 formulas.
  template <class Number>
  Number by_type(Number single, Number wide) const {
    return is_double() ? wide : single;
  }
  int digits() const { return by_type(24, 53); }
  int bias() const { return by_type(127, 1023); }

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
  bool coarse_;
  Processor processor_;
};

// A condition for each lane.
struct Mask {
  const Arithmetic* in;
  llvm::Value* value;
};

// The bits of a Real: integers that wrap.
struct Bits {
  const Arithmetic* in;
  llvm::Value* value;
};

struct Real {
  const Arithmetic* in;
  llvm::Value* value;
};

Real number(const Arithmetic& in, double value);

Real operator+(Real a, Real b);
Real operator-(Real a, Real b);
Real operator*(Real a, Real b);
Real operator/(Real a, Real b);
Real operator-(Real a);
inline Real operator+(Real a, double b) { return a + number(*a.in, b); }
inline Real operator-(Real a, double b) { return a - number(*a.in, b); }
inline Real operator*(Real a, double b) { return a * number(*a.in, b); }
inline Real operator+(double a, Real b) { return number(*b.in, a) + b; }
inline Real operator-(double a, Real b) { return number(*b.in, a) - b; }
inline Real operator*(double a, Real b) { return number(*b.in, a) * b; }
inline Real operator/(double a, Real b) { return number(*b.in, a) / b; }

// Comparisons with NaN are false, but for !=.
Mask operator<(Real a, Real b);
Mask operator<=(Real a, Real b);
Mask operator==(Real a, Real b);
Mask operator!=(Real a, Real b);
inline Mask operator>(Real a, Real b) { return b < a; }
inline Mask operator>(Real a, double b) { return a > number(*a.in, b); }
inline Mask operator<(Real a, double b) { return a < number(*a.in, b); }
inline Mask operator<=(Real a, double b) { return a <= number(*a.in, b); }
inline Mask operator==(Real a, double b) { return a == number(*a.in, b); }
inline Mask is_nan(Real a) { return a != a; }
Mask is_negative(Real a);  // whether the sign bit is set

Mask operator&(Mask a, Mask b);
Mask operator|(Mask a, Mask b);
Mask operator^(Mask a, Mask b);
Mask operator!(Mask a);

Real select(Mask condition, Real if_true, Real if_false);
inline Real select(Mask condition, double if_true, Real if_false) {
  return select(condition, number(*if_false.in, if_true), if_false);
}
inline Real select(Mask condition, Real if_true, double if_false) {
  return select(condition, if_true, number(*if_true.in, if_false));
}
inline Real select(Mask condition, double if_true, double if_false) {
  return select(condition, number(*condition.in, if_true), number(*condition.in, if_false));
}

Bits bits_of(Real a);
Real real_of(Bits a);
Bits operator+(Bits a, uint64_t b);
Bits operator-(Bits a, Bits b);
Bits operator&(Bits a, uint64_t b);
Bits operator|(Bits a, uint64_t b);
Bits operator^(Bits a, Bits b);
Bits operator<<(Bits a, int count);
Bits operator>>(Bits a, int count);  // zeros come in
Mask is_odd(Bits a);
// The bits of a constant.
uint64_t bits_of(const Arithmetic& in, double value);

Real abs(Real a);
Real sqrt(Real a);
// The magnitude of `a`, which is not negative, with the sign of `b`.
Real with_sign(Real a, Real b);
// -a in the lanes where `condition` holds.
Real negative_where(Mask condition, Real a);
// Limits `a`, but keeps NaN.
Real at_most(Real a, double limit);
Real at_least(Real a, double limit);

// a * b + c, in one or two roundings, whichever is faster.
Real multiply_add(Real a, Real b, Real c);
inline Real multiply_add(Real a, double b, Real c) { return multiply_add(a, number(*a.in, b), c); }
inline Real multiply_add(Real a, Real b, double c) { return multiply_add(a, b, number(*a.in, c)); }

// An unevaluated sum: `low` is at most about the rounding error of `high`.
struct Pair {
  Real high, low;
};
// The exact sum. The second form needs |a| >= |b| or a = 0.
Pair exact_sum(Real a, Real b);
Pair exact_sum_ordered(Real a, Real b);
// The exact product (Dekker's, 1971, without fused operations), if nothing overflows or vanishes.
Pair exact_product(Real a, Real b);

// The nearest integer, for magnitudes below 2^(digits - 2); ties to even.
Real nearest(Real a);
// An integer, and bits whose lowest ones are the integer's.
struct Integer {
  Real value;
  Bits bits;
};
// The integer nearest to a * factor, or one beside it if both are about as near.
Integer nearest(Real a, double factor);
// 2^k for an integer k in [-bias, bias + 1]: 0 and infinity at the ends.
Real power_of_2(Real k);
Real power_of_2(Bits k);
// a * 2^k for an integer k in twice that range, with one rounding if `a` is about 1.
Real scaled(Real a, Real k);
Real scaled(Real a, Integer k);

// Coefficients from the lowest power: of coarse functions, and of others.
struct Polynomial {
  std::span<const double> coarse;
  std::span<const double> fine;
};
Real evaluate(const Polynomial& polynomial, Real x);
// The same of coefficients alone.
Real evaluate(std::span<const double> coefficients, Real x);

// A constant as a sum of two numbers, for formulas in float and in double.
struct Constant {
  double single, single_rest;
  double wide, wide_rest;
  double high(const Arithmetic& in) const { return in.by_type(single, wide); }
  double low(const Arithmetic& in) const { return in.by_type(single_rest, wide_rest); }
};

}  // namespace texloom::codegen::native::math
