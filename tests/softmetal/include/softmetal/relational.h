// <metal_relational>, select and as_type.
#pragma once

#include "integer.h"

namespace metal {

#define SM_TEST_1(F, T, EXPRESSION)         \
  inline bool F(T x) { return EXPRESSION; } \
  SM_TEST_1_OF(F, T, 2) SM_TEST_1_OF(F, T, 3) SM_TEST_1_OF(F, T, 4)
#define SM_TEST_1_OF(F, T, N)                          \
  inline vec<bool, N> F(vec<T, N> x) {                 \
    vec<bool, N> r;                                    \
    SM_LOOP(N) r.__v[i] = F(static_cast<T>(x.__v[i])); \
    return r;                                          \
  }
#define SM_TEST_2(F, T, EXPRESSION)              \
  inline bool F(T x, T y) { return EXPRESSION; } \
  SM_TEST_2_OF(F, T, 2) SM_TEST_2_OF(F, T, 3) SM_TEST_2_OF(F, T, 4)
#define SM_TEST_2_OF(F, T, N)                                                    \
  inline vec<bool, N> F(vec<T, N> x, vec<T, N> y) {                              \
    vec<bool, N> r;                                                              \
    SM_LOOP(N) r.__v[i] = F(static_cast<T>(x.__v[i]), static_cast<T>(y.__v[i])); \
    return r;                                                                    \
  }
#define SM_TESTS(T)                                                                              \
  SM_TEST_1(isnan, T, x != x)                                                                    \
  SM_TEST_1(isinf, T, x == (T)__builtin_inff() || x == -(T)__builtin_inff())                     \
  SM_TEST_1(isfinite, T, x - x == x - x)                                                         \
  SM_TEST_1(isnormal, T,                                                                         \
            x - x == x - x && (x >= numeric_limits<T>::min() || -x >= numeric_limits<T>::min())) \
  SM_TEST_1(signbit, T, __builtin_signbitf((float)x))                                            \
  SM_TEST_2(isordered, T, x == x && y == y)                                                      \
  SM_TEST_2(isunordered, T, x != x || y != y)
SM_TESTS(float)
SM_TESTS(half)
SM_TESTS(bfloat)
#undef SM_TESTS

template <int N>
inline bool all(vec<bool, N> x) {
  bool r = true;
  SM_LOOP(N) r = r && x.__v[i];
  return r;
}
template <int N>
inline bool any(vec<bool, N> x) {
  bool r = false;
  SM_LOOP(N) r = r || x.__v[i];
  return r;
}
inline bool all(bool x) { return x; }
inline bool any(bool x) { return x; }
template <int N>
inline vec<bool, N> not_(vec<bool, N> x) {
  return !x;
}

// select(a, b, c) is c ? b : a by component; a scalar condition selects all components.
#define SM_SELECT_OF(T, N)                                            \
  inline vec<T, N> select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) { \
    vec<T, N> r;                                                      \
    SM_LOOP(N) r.__v[i] = c.__v[i] ? b.__v[i] : a.__v[i];             \
    return r;                                                         \
  }                                                                   \
  inline vec<T, N> select(vec<T, N> a, vec<T, N> b, bool c) { return c ? b : a; }
#define SM_SELECT(T, NAME)                                \
  inline T select(T a, T b, bool c) { return c ? b : a; } \
  SM_SELECT_OF(T, 2) SM_SELECT_OF(T, 3) SM_SELECT_OF(T, 4)
SM_EACH_VECTOR_TYPE(SM_SELECT)

}  // namespace metal

// The bits of x as another type of the same size.
template <class T, class U>
constexpr T as_type(U x) {
  static_assert(sizeof(T) == sizeof(U), "as_type needs types of one size");
  return __builtin_bit_cast(T, x);
}
namespace metal {
using ::as_type;
}
