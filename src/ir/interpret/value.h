// Values of the IR's types, and the IR's operations on them, one element at a time.
//
// Sums, differences, products, quotients, square roots and Fma follow IEEE 754 in the type itself,
// rounded to nearest, ties to even. Integers wrap. The other element functions (exp, sin, ...) are
// computed by <cmath>: in double for float64, else in float. Results of 16-bit types are then
// rounded to their type. The last bits may differ from a device's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/expr.h"
#include "ir/type.h"

namespace texloom::ir {

// The origin that makes an element undefined, or 0 if it is defined; see ir/interpret/undefined.h.
using Undefined = uint32_t;

// One element. Integers and bools are in `integer` (of uint64: its bits), floats in `number`.
struct Scalar {
  int64_t integer = 0;
  double number = 0;
  Undefined undefined = 0;
};
inline Scalar scalar_of(int64_t value) { return {.integer = value}; }
inline Scalar scalar_of(double value) { return {.number = value}; }

// The elements of a vector; those that were never set are zero. A value is made for each expression
// that is evaluated, and most have one element: elements beyond the last that was set cost nothing,
// and memory for those beyond kFew is allocated only when one of them is set.
class Lanes {
 public:
  Lanes() {}
  explicit Lanes(const Scalar& first) { (*this)[0] = first; }
  Lanes(const Lanes& other) : more_(other.more_) { copy_few(other); }
  Lanes(Lanes&& other) noexcept : more_(std::move(other.more_)) { copy_few(other); }
  Lanes& operator=(const Lanes& other) {
    more_ = other.more_;
    copy_few(other);
    return *this;
  }
  Lanes& operator=(Lanes&& other) noexcept {
    more_ = std::move(other.more_);
    copy_few(other);
    return *this;
  }
  ~Lanes() = default;

  const Scalar& operator[](std::size_t lane) const {
    if (lane < count_) return few_[lane];
    return lane < kFew || more_.empty() ? kZero : more_[lane - kFew];
  }
  Scalar& operator[](std::size_t lane) {
    if (lane < kFew) {
      while (count_ <= lane) few_[count_++] = {};
      return few_[lane];
    }
    if (more_.empty()) more_.resize(kMaxLanes - kFew);
    return more_[lane - kFew];
  }
  const Scalar& front() const { return (*this)[0]; }
  // Sets the first `count` lanes.
  void fill(const Scalar& value, int count) {
    for (int lane = 0; lane < count; ++lane) (*this)[static_cast<std::size_t>(lane)] = value;
  }

 private:
  static constexpr std::size_t kFew = 16;
  static constexpr Scalar kZero{};

  void copy_few(const Lanes& other) {
    count_ = other.count_;
    std::copy_n(other.few_, count_, few_);
  }

  std::size_t count_ = 0;  // elements of few_ that were set, or are before one that was
  union {
    Scalar few_[kFew];  // not initialized
  };
  std::vector<Scalar> more_;
};

struct Value {
  Type type;
  Lanes lanes;

  const Scalar& front() const { return lanes.front(); }
};

// The value of the floating-point type that is nearest to `value`.
double rounded(Type type, double value);

// `type` may be a vector type; each function handles one lane. Operands must be defined.

// nullopt if the IR leaves the result open: an integer division by zero, a shift by a negative
// number or by at least the width of the type. `op` is neither And nor Or.
std::optional<Scalar> apply(BinaryOp op, Type operands, Scalar a, Scalar b);
Scalar apply_fma(Type type, Scalar a, Scalar b, Scalar c);
Scalar apply_call(Intrinsic function, Type type, std::span<const Scalar> arguments);
// nullopt if a float, after truncation, does not fit the integer type or is NaN.
std::optional<Scalar> convert(Type from, Type to, Scalar value);

// An element in memory, little endian; a bool is a byte.
Scalar decode(Type type, const std::byte* bytes);
void encode(Type type, Scalar value, std::byte* bytes);

}  // namespace texloom::ir
