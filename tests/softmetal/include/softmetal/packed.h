// Packed vectors: arrays of scalars, with a scalar's alignment. They convert implicitly to vectors,
// which do the arithmetic.
#pragma once

#include "vector.h"

namespace metal {

template <class T, int N>
struct packed_vec;

#define SM_PACKED_ASSIGN(OP)                           \
  __generic packed_vec& operator OP(vec<T, kSize> b) { \
    vec<T, kSize> a = *this;                           \
    a OP b;                                            \
    return *this = packed_vec(a);                      \
  }
#define SM_PACKED_BODY(N)                                          \
  enum { kSize = N };                                              \
  typedef T element_type;                                          \
  union {                                                          \
    T __e[N];                                                      \
    struct {                                                       \
      T SM_XYZW_##N;                                               \
    };                                                             \
    struct {                                                       \
      T SM_RGBA_##N;                                               \
    };                                                             \
  };                                                               \
  packed_vec() = default;                                          \
  packed_vec(vec<T, N> v) {                                        \
    for (int i = 0; i < N; ++i) __e[i] = static_cast<T>(v.__v[i]); \
  }                                                                \
  template <class U, class = enable_if_t<is_arithmetic<U>::value>> \
  packed_vec(U x) : packed_vec(vec<T, N>(x)) {}                    \
  template <class U, class = enable_if_t<!is_same<U, T>::value>>   \
  explicit packed_vec(vec<U, N> v) : packed_vec(vec<T, N>(v)) {}   \
  operator vec<T, N>() const {                                     \
    vec<T, N> v;                                                   \
    for (int i = 0; i < N; ++i) v.__v[i] = __e[i];                 \
    return v;                                                      \
  }                                                                \
  template <class U, class = enable_if_t<!is_same<U, T>::value>>   \
  explicit operator vec<U, N>() const {                            \
    return vec<U, N>(vec<T, N>(*this));                            \
  }                                                                \
  __generic T& operator[](size_t i) { return __e[i]; }             \
  T operator[](size_t i) const { return __e[i]; }                  \
  vec<T, N> operator+() const { return *this; }                    \
  vec<T, N> operator-() const { return -vec<T, N>(*this); }        \
  vec<T, N> operator~() const { return ~vec<T, N>(*this); }        \
  vec<bool, N> operator!() const { return !vec<T, N>(*this); }     \
  SM_PACKED_ASSIGN(+=)                                             \
  SM_PACKED_ASSIGN(-=)                                             \
  SM_PACKED_ASSIGN(*=)                                             \
  SM_PACKED_ASSIGN(/=)                                             \
  SM_PACKED_ASSIGN(%=)                                             \
  SM_PACKED_ASSIGN(&=)                                             \
  SM_PACKED_ASSIGN(|=)                                             \
  SM_PACKED_ASSIGN(^=)                                             \
  SM_PACKED_ASSIGN(<<=)                                            \
  SM_PACKED_ASSIGN(>>=)

// Swizzles of packed vectors use the vector with the same components.
#undef SM_GET
#undef SM_S1
#undef SM_S2
#undef SM_S3
#undef SM_S4
#define SM_GET(NAME, TYPE, PUT) \
  __declspec(property(get = __get_##NAME, put = __put_##NAME)) TYPE PUT;
#define SM_S1(a, p, i)
#define SM_PACKED_SWIZZLE(NAME, OTHER, TYPE)                                \
  TYPE __get_##NAME() const { return vec<T, kSize>(*this).__get_##NAME(); } \
  void __put_##NAME(TYPE s) {                                               \
    vec<T, kSize> v = *this;                                                \
    v.__put_##NAME(s);                                                      \
    *this = packed_vec(v);                                                  \
  }                                                                         \
  SM_GET(NAME, TYPE, NAME)                                                  \
  SM_GET(NAME, TYPE, OTHER)
#define SM_S2(a, p, i, b, q, j) SM_PACKED_SWIZZLE(a##b, p##q, SM_V2)
#define SM_S3(a, p, i, b, q, j, c, r, k) SM_PACKED_SWIZZLE(a##b##c, p##q##r, SM_V3)
#define SM_S4(a, p, i, b, q, j, c, r, k, d, s, l) SM_PACKED_SWIZZLE(a##b##c##d, p##q##r##s, SM_V4)

template <class T>
struct packed_vec<T, 2> {
  SM_PACKED_BODY(2)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  packed_vec(T a, T b) : __e{a, b} {}
  SM_2_OF_2(x, r, 0)
  SM_2_OF_2(y, g, 1)
};
template <class T>
struct packed_vec<T, 3> {
  SM_PACKED_BODY(3)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  packed_vec(T a, T b, T c) : __e{a, b, c} {}
  packed_vec(vec<T, 2> a, T b) : __e{a[0], a[1], b} {}
  packed_vec(T a, vec<T, 2> b) : __e{a, b[0], b[1]} {}
  SM_2_OF_3(x, r, 0)
  SM_2_OF_3(y, g, 1)
  SM_2_OF_3(z, b, 2)
};
template <class T>
struct packed_vec<T, 4> {
  SM_PACKED_BODY(4)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  packed_vec(T a, T b, T c, T d) : __e{a, b, c, d} {}
  packed_vec(vec<T, 2> a, vec<T, 2> b) : packed_vec(vec<T, 4>(a, b)) {}
  packed_vec(vec<T, 3> a, T b) : packed_vec(vec<T, 4>(a, b)) {}
  packed_vec(T a, vec<T, 3> b) : packed_vec(vec<T, 4>(a, b)) {}
  SM_2_OF_4(x, r, 0)
  SM_2_OF_4(y, g, 1)
  SM_2_OF_4(z, b, 2)
  SM_2_OF_4(w, a, 3)
};

// Operators on packed vectors use those of vectors; one operand or both may be packed.
#define SM_PACKED_OPERATOR(OP)                                                     \
  template <class T, int N>                                                        \
  inline auto operator OP(packed_vec<T, N> a, packed_vec<T, N> b) {                \
    return vec<T, N>(a) OP vec<T, N>(b);                                           \
  }                                                                                \
  template <class T, int N, class U, class = enable_if_t<is_arithmetic<U>::value>> \
  inline auto operator OP(packed_vec<T, N> a, U b) {                               \
    return vec<T, N>(a) OP b;                                                      \
  }                                                                                \
  template <class T, int N, class U, class = enable_if_t<is_arithmetic<U>::value>> \
  inline auto operator OP(U a, packed_vec<T, N> b) {                               \
    return a OP vec<T, N>(b);                                                      \
  }
SM_PACKED_OPERATOR(+)
SM_PACKED_OPERATOR(-)
SM_PACKED_OPERATOR(*)
SM_PACKED_OPERATOR(/)
SM_PACKED_OPERATOR(==)
SM_PACKED_OPERATOR(!=)
SM_PACKED_OPERATOR(<)
SM_PACKED_OPERATOR(>)
SM_PACKED_OPERATOR(<=)
SM_PACKED_OPERATOR(>=)
SM_PACKED_OPERATOR(%)
SM_PACKED_OPERATOR(&)
SM_PACKED_OPERATOR(|)
SM_PACKED_OPERATOR(^)
SM_PACKED_OPERATOR(<<)
SM_PACKED_OPERATOR(>>)
#undef SM_PACKED_OPERATOR

}  // namespace metal

#define SM_PACKED_NAMES(T, NAME)                                \
  typedef metal::packed_vec<T, 2> packed_##NAME##2;             \
  typedef metal::packed_vec<T, 3> packed_##NAME##3;             \
  typedef metal::packed_vec<T, 4> packed_##NAME##4;             \
  namespace metal {                                             \
  typedef packed_vec<T, 2> packed_##NAME##2;                    \
  typedef packed_vec<T, 3> packed_##NAME##3;                    \
  typedef packed_vec<T, 4> packed_##NAME##4;                    \
  static_assert(sizeof(packed_##NAME##3) == 3 * sizeof(T), ""); \
  }
SM_EACH_VECTOR_TYPE(SM_PACKED_NAMES)
#undef SM_PACKED_NAMES
