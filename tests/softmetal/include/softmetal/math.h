// <metal_math>, <metal_common>, <metal_geometric>: float and half, scalars and vectors.
//
// Every function is computed in double precision and rounded once (math.c of the runtime's object),
// so results are the nearest float in all but rare cases: far within the bounds of the
// specification. The functions are those of metal::precise, also by default; metal::fast has the
// same functions.
#pragma once

#include "matrix.h"
#include "vector.h"

extern "C" {
#define SM_DECLARE_1(F) float __sm_##F(float);
#define SM_DECLARE_2(F) float __sm_##F(float, float);
// clang-format off
#define SM_EACH_LIBRARY_1(F) \
  F(acos) F(acosh) F(asin) F(asinh) F(atan) F(atanh) F(cos) F(cosh) F(cospi) F(exp) \
  F(exp2) F(exp10) F(log) F(log2) F(log10) F(rsqrt) F(sin) F(sinh) F(sinpi) F(tan) \
  F(tanh) F(tanpi)
// clang-format on
#define SM_EACH_LIBRARY_2(F) F(atan2) F(fmod) F(pow) F(powr) F(nextafter)
SM_EACH_LIBRARY_1(SM_DECLARE_1)
SM_EACH_LIBRARY_2(SM_DECLARE_2)
#undef SM_DECLARE_1
#undef SM_DECLARE_2
float __sm_fma(float, float, float);
float __sm_fma_half(float, float, float);
float __sm_ldexp(float, int);
float __sm_frexp(float, __private int*);
int __sm_ilogb(float);
}

namespace metal {
namespace precise {

// Defines a function of vectors, by component, from a declared function of scalars.
#define SM_LOOP(N) for (int i = 0; i < N; ++i)
#define SM_VECTOR_1(F, T, N)                           \
  inline vec<T, N> F(vec<T, N> x) {                    \
    vec<T, N> r;                                       \
    SM_LOOP(N) r.__v[i] = F(static_cast<T>(x.__v[i])); \
    return r;                                          \
  }
#define SM_VECTOR_2(F, T, N)                                                     \
  inline vec<T, N> F(vec<T, N> x, vec<T, N> y) {                                 \
    vec<T, N> r;                                                                 \
    SM_LOOP(N) r.__v[i] = F(static_cast<T>(x.__v[i]), static_cast<T>(y.__v[i])); \
    return r;                                                                    \
  }
#define SM_VECTOR_3(F, T, N)                                                                    \
  inline vec<T, N> F(vec<T, N> x, vec<T, N> y, vec<T, N> z) {                                   \
    vec<T, N> r;                                                                                \
    SM_LOOP(N)                                                                                  \
    r.__v[i] = F(static_cast<T>(x.__v[i]), static_cast<T>(y.__v[i]), static_cast<T>(z.__v[i])); \
    return r;                                                                                   \
  }
#define SM_VECTORS(K, F, T) SM_VECTOR_##K(F, T, 2) SM_VECTOR_##K(F, T, 3) SM_VECTOR_##K(F, T, 4)
#define SM_FLOATS(K, F) SM_VECTORS(K, F, float) SM_VECTORS(K, F, half)

// Functions of half round the float function's result. The library's functions are far more exact
// than half needs. For sums, products, quotients and roots of half, float is wide enough that the
// second rounding changes nothing.
#define SM_LIBRARY_1(F)                                      \
  inline float F(float x) { return __sm_##F(x); }            \
  inline half F(half x) { return (half)__sm_##F((float)x); } \
  SM_FLOATS(1, F)
#define SM_LIBRARY_2(F)                                                        \
  inline float F(float x, float y) { return __sm_##F(x, y); }                  \
  inline half F(half x, half y) { return (half)__sm_##F((float)x, (float)y); } \
  SM_FLOATS(2, F)
SM_EACH_LIBRARY_1(SM_LIBRARY_1)
#define SM_HALF_NEXTAFTER 1
SM_LIBRARY_2(atan2)
SM_LIBRARY_2(fmod)
SM_LIBRARY_2(pow)
SM_LIBRARY_2(powr)
#undef SM_LIBRARY_1
#undef SM_LIBRARY_2

#define SM_UNARY(F, EXPRESSION)        \
  inline float F(float x) {            \
    typedef float T;                   \
    return static_cast<T>(EXPRESSION); \
  }                                    \
  inline half F(half x) {              \
    typedef half T;                    \
    return static_cast<T>(EXPRESSION); \
  }                                    \
  SM_FLOATS(1, F)
#define SM_BINARY(F, EXPRESSION)       \
  inline float F(float x, float y) {   \
    typedef float T;                   \
    return static_cast<T>(EXPRESSION); \
  }                                    \
  inline half F(half x, half y) {      \
    typedef half T;                    \
    return static_cast<T>(EXPRESSION); \
  }                                    \
  SM_FLOATS(2, F)
#define SM_TERNARY(F, EXPRESSION)             \
  inline float F(float x, float y, float z) { \
    typedef float T;                          \
    return static_cast<T>(EXPRESSION);        \
  }                                           \
  inline half F(half x, half y, half z) {     \
    typedef half T;                           \
    return static_cast<T>(EXPRESSION);        \
  }                                           \
  SM_FLOATS(3, F)

SM_UNARY(fabs, __builtin_fabsf((float)x))
SM_UNARY(abs, __builtin_fabsf((float)x))
SM_UNARY(ceil, __builtin_ceilf((float)x))
SM_UNARY(floor, __builtin_floorf((float)x))
SM_UNARY(trunc, __builtin_truncf((float)x))
SM_UNARY(rint, __builtin_rintf((float)x))
SM_UNARY(round, __builtin_roundf((float)x))
SM_UNARY(sqrt, __builtin_sqrtf((float)x))
SM_BINARY(copysign, __builtin_copysignf((float)x, (float)y))
// If one operand is NaN, the result is the other operand.
SM_BINARY(fmax, x != x ? y : (y != y ? x : (x < y ? y : x)))
SM_BINARY(fmin, x != x ? y : (y != y ? x : (y < x ? y : x)))
SM_BINARY(max, x != x ? y : (y != y ? x : (x < y ? y : x)))
SM_BINARY(min, x != x ? y : (y != y ? x : (y < x ? y : x)))
SM_BINARY(fdim, x != x || y != y ? x + y : (x > y ? x - y : T(0)))
SM_BINARY(step, y < x ? T(0) : T(1))
SM_BINARY(divide, x / y)
SM_TERNARY(clamp, fmin(fmax(x, y), z))
SM_TERNARY(mix, x + (y - x) * z)
SM_TERNARY(fmax3, fmax(x, fmax(y, z)))
SM_TERNARY(max3, fmax(x, fmax(y, z)))
SM_TERNARY(fmin3, fmin(x, fmin(y, z)))
SM_TERNARY(min3, fmin(x, fmin(y, z)))
SM_TERNARY(fmedian3, fmax(fmin(x, y), fmin(fmax(x, y), z)))
SM_TERNARY(median3, fmax(fmin(x, y), fmin(fmax(x, y), z)))
SM_UNARY(saturate, fmin(fmax(x, T(0)), T(1)))
SM_UNARY(sign, x > T(0) ? T(1) : (x < T(0) ? T(-1) : (x == T(0) ? x : T(0))))
// The result is below 1, even where x - floor(x) rounds up to 1; infinity gives 0, NaN gives NaN.
inline float fract(float x) {
  if (x != x) return x;
  if (__builtin_isinf(x)) return 0;
  return fmin(x - floor(x), 0x1.fffffep-1f);
}
inline half fract(half x) {
  if (x != x) return x;
  if (__builtin_isinf((float)x)) return 0;
  return fmin((half)(x - floor(x)), (half)0x1.ffcp-1f);
}
SM_FLOATS(1, fract)
inline float fma(float x, float y, float z) { return __sm_fma(x, y, z); }
inline half fma(half x, half y, half z) { return (half)__sm_fma_half(x, y, z); }
SM_FLOATS(3, fma)
inline float smoothstep(float a, float b, float x) {
  float t = saturate((x - a) / (b - a));
  return t * t * (3.0f - 2.0f * t);
}
inline half smoothstep(half a, half b, half x) {
  return (half)smoothstep((float)a, (float)b, (float)x);
}
SM_FLOATS(3, smoothstep)
inline float nextafter(float x, float y) { return __sm_nextafter(x, y); }
inline half nextafter(half x, half y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return y < 0 ? -(half)0x1p-24f : (half)0x1p-24f;
  short bits = __builtin_bit_cast(short, x);
  return __builtin_bit_cast(half, (short)(bits + ((x < y) == (x > 0) ? 1 : -1)));
}
SM_FLOATS(2, nextafter)

inline float frexp(float x, thread int& exponent) { return __sm_frexp(x, &exponent); }
inline half frexp(half x, thread int& exponent) { return (half)__sm_frexp((float)x, &exponent); }
inline float ldexp(float x, int k) { return __sm_ldexp(x, k); }
inline half ldexp(half x, int k) {
  return (half)__sm_ldexp((float)x, k < -60 ? -60 : (k > 60 ? 60 : k));
}
inline int ilogb(float x) { return __sm_ilogb(x); }
inline int ilogb(half x) { return __sm_ilogb((float)x); }
inline float modf(float x, thread float& whole) {
  whole = trunc(x);
  return copysign(__builtin_isinf(x) ? 0.0f : x - whole, x);
}
inline half modf(half x, thread half& whole) {
  whole = trunc(x);
  return copysign(__builtin_isinf((float)x) ? (half)0 : (half)(x - whole), x);
}
inline float sincos(float x, thread float& cosine) {
  cosine = cos(x);
  return sin(x);
}
inline half sincos(half x, thread half& cosine) {
  cosine = cos(x);
  return sin(x);
}
#define SM_WITH_RESULT(F, T, P, N)                         \
  inline vec<T, N> F(vec<T, N> x, thread vec<P, N>& out) { \
    vec<T, N> r;                                           \
    SM_LOOP(N) {                                           \
      P part;                                              \
      r.__v[i] = F(static_cast<T>(x.__v[i]), part);        \
      out.__v[i] = part;                                   \
    }                                                      \
    return r;                                              \
  }
#define SM_OF_EXPONENT(T, N)                                         \
  SM_WITH_RESULT(frexp, T, int, N)                                   \
  SM_WITH_RESULT(modf, T, T, N)                                      \
  SM_WITH_RESULT(sincos, T, T, N)                                    \
  inline vec<T, N> ldexp(vec<T, N> x, vec<int, N> k) {               \
    vec<T, N> r;                                                     \
    SM_LOOP(N) r.__v[i] = ldexp(static_cast<T>(x.__v[i]), k.__v[i]); \
    return r;                                                        \
  }                                                                  \
  inline vec<int, N> ilogb(vec<T, N> x) {                            \
    vec<int, N> r;                                                   \
    SM_LOOP(N) r.__v[i] = ilogb(static_cast<T>(x.__v[i]));           \
    return r;                                                        \
  }
SM_OF_EXPONENT(float, 2)
SM_OF_EXPONENT(float, 3)
SM_OF_EXPONENT(float, 4)
SM_OF_EXPONENT(half, 2)
SM_OF_EXPONENT(half, 3)
SM_OF_EXPONENT(half, 4)
#undef SM_OF_EXPONENT
#undef SM_WITH_RESULT

// Functions of bfloat round the float function's result. They are templates, because programs may
// define functions of these names.
#define SM_BFLOAT_1(F)                                               \
  template <class T, class = enable_if_t<is_same<T, bfloat>::value>> \
  inline T F(T x) {                                                  \
    return (T)F((float)x);                                           \
  }
#define SM_BFLOAT_2(F)                                               \
  template <class T, class = enable_if_t<is_same<T, bfloat>::value>> \
  inline T F(T x, T y) {                                             \
    return (T)F((float)x, (float)y);                                 \
  }
#define SM_BFLOAT_3(F)                                               \
  template <class T, class = enable_if_t<is_same<T, bfloat>::value>> \
  inline T F(T x, T y, T z) {                                        \
    return (T)F((float)x, (float)y, (float)z);                       \
  }
SM_EACH_LIBRARY_1(SM_BFLOAT_1)
// clang-format off
#define SM_EACH_UNARY(F) \
  F(fabs) F(abs) F(ceil) F(floor) F(trunc) F(rint) F(round) F(sqrt) F(saturate) F(sign) F(fract)
#define SM_EACH_BINARY(F) \
  F(atan2) F(fmod) F(pow) F(powr) F(copysign) F(fmax) F(fmin) F(max) F(min) F(fdim) F(step) \
  F(divide)
#define SM_EACH_TERNARY(F) \
  F(clamp) F(mix) F(fmax3) F(max3) F(fmin3) F(min3) F(fmedian3) F(median3) F(fma) F(smoothstep)
// clang-format on
SM_EACH_UNARY(SM_BFLOAT_1)
SM_EACH_BINARY(SM_BFLOAT_2)
SM_EACH_TERNARY(SM_BFLOAT_3)

// Geometric functions.
#define SM_GEOMETRIC(T, N)                                                                  \
  inline T dot(vec<T, N> x, vec<T, N> y) {                                                  \
    vec<T, N> p = x * y;                                                                    \
    T sum = static_cast<T>(p.__v[0]);                                                       \
    for (int i = 1; i < N; ++i) sum += static_cast<T>(p.__v[i]);                            \
    return sum;                                                                             \
  }                                                                                         \
  inline T length_squared(vec<T, N> x) { return dot(x, x); }                                \
  inline T length(vec<T, N> x) { return sqrt(dot(x, x)); }                                  \
  inline T distance_squared(vec<T, N> x, vec<T, N> y) { return length_squared(x - y); }     \
  inline T distance(vec<T, N> x, vec<T, N> y) { return length(x - y); }                     \
  inline vec<T, N> normalize(vec<T, N> x) { return x * rsqrt(dot(x, x)); }                  \
  inline vec<T, N> reflect(vec<T, N> i, vec<T, N> n) { return i - n * (T(2) * dot(n, i)); } \
  inline vec<T, N> faceforward(vec<T, N> n, vec<T, N> i, vec<T, N> ng) {                    \
    if (dot(ng, i) < T(0)) return n;                                                        \
    return -n;                                                                              \
  }                                                                                         \
  inline vec<T, N> refract(vec<T, N> i, vec<T, N> n, T eta) {                               \
    T d = dot(n, i), k = T(1) - eta * eta * (T(1) - d * d);                                 \
    if (k < T(0)) return vec<T, N>(T(0));                                                   \
    return i * eta - n * (eta * d + sqrt(k));                                               \
  }
SM_GEOMETRIC(float, 2)
SM_GEOMETRIC(float, 3)
SM_GEOMETRIC(float, 4)
SM_GEOMETRIC(half, 2)
SM_GEOMETRIC(half, 3)
SM_GEOMETRIC(half, 4)
#undef SM_GEOMETRIC
#define SM_CROSS(T) \
  inline vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
SM_CROSS(float)
SM_CROSS(half)
#undef SM_CROSS

}  // namespace precise

// Using-declarations, since programs may define functions of these names in all three namespaces.
#define SM_SAME(F) using precise::F;
// clang-format off
#define SM_EACH_OTHER(F) \
  SM_EACH_UNARY(F) SM_EACH_BINARY(F) SM_EACH_TERNARY(F) \
  F(nextafter) F(frexp) F(ldexp) F(ilogb) F(modf) F(sincos) F(dot) F(length) F(length_squared) \
  F(distance) F(distance_squared) F(normalize) F(reflect) F(refract) F(faceforward) F(cross)
// clang-format on
SM_EACH_LIBRARY_1(SM_SAME)
SM_EACH_OTHER(SM_SAME)
namespace fast {
SM_EACH_LIBRARY_1(SM_SAME)
SM_EACH_OTHER(SM_SAME)
}  // namespace fast
#undef SM_SAME
}  // namespace metal
