// Vectors: classes over clang's extended vectors, whose own rules are not those of MSL: comparisons
// give vectors of bool here, vectors convert by constructors alone, and components have no address.
// Swizzles are properties, which clang turns into calls of a getter and a setter.
#pragma once

#include "traits.h"

namespace metal {

template <class T, int N>
struct vec;

template <class T>
struct __sm_storage {
  typedef T type;
};
template <>
struct __sm_storage<bool> {
  typedef uchar type;
};
// An extended vector of what stores T.
template <class T, int N>
using __sm_raw = typename __sm_storage<T>::type __attribute__((ext_vector_type(N)));

struct __sm_raw_tag {};

// Whether a scalar of type U becomes a vector of T by itself: not if a fraction would be lost.
template <class U, class T>
using __sm_splats =
    enable_if_t<is_arithmetic<U>::value && (is_integral<U>::value || is_floating_point<T>::value)>;
template <class U, class T>
using __sm_splats_by_cast =
    enable_if_t<is_floating_point<U>::value && !is_floating_point<T>::value>;

template <class T, int N, class U>
inline __sm_raw<T, N> __sm_convert(__sm_raw<U, N> from) {
  if constexpr (is_same<T, bool>::value) {
    return __builtin_convertvector(from != 0, __sm_raw<uchar, N>) & (uchar)1;
  } else {
    return __builtin_convertvector(from, __sm_raw<T, N>);
  }
}

#define SM_OPERATOR(OP)                                                                          \
  friend constexpr vec operator OP(vec a, vec b) { return vec(__sm_raw_tag(), a.__v OP b.__v); } \
  __generic vec& operator OP##=(vec b) {                                                         \
    __v = __v OP b.__v;                                                                          \
    return *this;                                                                                \
  }
#define SM_COMPARISON(OP)                                                            \
  friend inline vec<bool, kSize> operator OP(vec a, vec b) {                         \
    return vec<bool, kSize>(                                                         \
        __sm_raw_tag(),                                                              \
        __builtin_convertvector(a.__v OP b.__v, __sm_raw<uchar, kSize>) & (uchar)1); \
  }

// What vectors of all sizes have.
#define SM_VECTOR_BODY(N)                                                                     \
  enum { kSize = N };                                                                         \
  typedef T element_type;                                                                     \
  __sm_raw<T, N> __v;                                                                         \
  vec() = default;                                                                            \
  constexpr vec(__sm_raw_tag, __sm_raw<T, N> raw) : __v(raw) {}                               \
  template <class U, class = __sm_splats<U, T>>                                               \
  constexpr vec(U x) : __v(static_cast<typename __sm_storage<T>::type>(static_cast<T>(x))) {} \
  template <class U, class = __sm_splats_by_cast<U, T>, class = void>                         \
  constexpr explicit vec(U x)                                                                 \
      : __v(static_cast<typename __sm_storage<T>::type>(static_cast<T>(x))) {}                \
  template <class U, class = enable_if_t<!is_same<U, T>::value>>                              \
  explicit vec(vec<U, N> from) : __v(__sm_convert<T, N, U>(from.__v)) {}                      \
  T operator[](size_t i) const { return static_cast<T>(__v[i]); }                             \
  __generic T& operator[](size_t i) { return reinterpret_cast<__generic T*>(&__v)[i]; }       \
  SM_OPERATOR(+)                                                                              \
  SM_OPERATOR(-)                                                                              \
  SM_OPERATOR(*)                                                                              \
  SM_OPERATOR(/)                                                                              \
  SM_OPERATOR(%)                                                                              \
  SM_OPERATOR(&)                                                                              \
  SM_OPERATOR(|)                                                                              \
  SM_OPERATOR(^)                                                                              \
  SM_OPERATOR(<<)                                                                             \
  SM_OPERATOR(>>)                                                                             \
  SM_COMPARISON(==)                                                                           \
  SM_COMPARISON(!=)                                                                           \
  SM_COMPARISON(<)                                                                            \
  SM_COMPARISON(>)                                                                            \
  SM_COMPARISON(<=)                                                                           \
  SM_COMPARISON(>=)                                                                           \
  constexpr vec operator+() const { return *this; }                                           \
  constexpr vec operator-() const { return vec(__sm_raw_tag(), -__v); }                       \
  constexpr vec operator~() const { return vec(__sm_raw_tag(), ~__v); }                       \
  vec<bool, N> operator!() const { return *this == vec(T(0)); }                               \
  friend inline vec<bool, kSize> operator&&(vec a, vec b) {                                   \
    return (a != vec(T(0))) & (b != vec(T(0)));                                               \
  }                                                                                           \
  friend inline vec<bool, kSize> operator||(vec a, vec b) {                                   \
    return (a != vec(T(0))) | (b != vec(T(0)));                                               \
  }                                                                                           \
  __generic vec& operator++() {                                                               \
    __v = __v + (typename __sm_storage<T>::type)1;                                            \
    return *this;                                                                             \
  }                                                                                           \
  __generic vec& operator--() {                                                               \
    __v = __v - (typename __sm_storage<T>::type)1;                                            \
    return *this;                                                                             \
  }                                                                                           \
  vec operator++(int) {                                                                       \
    vec old = *this;                                                                          \
    ++*this;                                                                                  \
    return old;                                                                               \
  }                                                                                           \
  vec operator--(int) {                                                                       \
    vec old = *this;                                                                          \
    --*this;                                                                                  \
    return old;                                                                               \
  }

// A component or swizzle is named twice, by xyzw and by rgba. What repeats a component is not
// assigned: its setter is refused when it is used.
#define SM_DISTINCT(CONDITION)                 \
  static_assert(sizeof(T) == 0 || (CONDITION), \
                "a swizzle that repeats a component is not assignable")
#define SM_GET(NAME, TYPE, PUT) \
  __declspec(property(get = __get_##NAME, put = __put_##NAME)) TYPE PUT;
#define SM_S1(a, p, i)                                   \
  T __get_##a() const { return static_cast<T>(__v[i]); } \
  void __put_##a(T x) { __v[i] = x; }                    \
  SM_GET(a, T, a)                                        \
  SM_GET(a, T, p)
#define SM_S2(a, p, i, b, q, j)                                                \
  vec<T, 2> __get_##a##b() const {                                             \
    return vec<T, 2>(__sm_raw_tag(), __builtin_shufflevector(__v, __v, i, j)); \
  }                                                                            \
  void __put_##a##b(vec<T, 2> s) {                                             \
    SM_DISTINCT(i != j);                                                       \
    __v[i] = s.__v[0], __v[j] = s.__v[1];                                      \
  }                                                                            \
  SM_GET(a##b, SM_V2, a##b)                                                    \
  SM_GET(a##b, SM_V2, p##q)
#define SM_S3(a, p, i, b, q, j, c, r, k)                                          \
  vec<T, 3> __get_##a##b##c() const {                                             \
    return vec<T, 3>(__sm_raw_tag(), __builtin_shufflevector(__v, __v, i, j, k)); \
  }                                                                               \
  void __put_##a##b##c(vec<T, 3> s) {                                             \
    SM_DISTINCT(i != j && i != k && j != k);                                      \
    __v[i] = s.__v[0], __v[j] = s.__v[1], __v[k] = s.__v[2];                      \
  }                                                                               \
  SM_GET(a##b##c, SM_V3, a##b##c)                                                 \
  SM_GET(a##b##c, SM_V3, p##q##r)
#define SM_S4(a, p, i, b, q, j, c, r, k, d, s, l)                                    \
  vec<T, 4> __get_##a##b##c##d() const {                                             \
    return vec<T, 4>(__sm_raw_tag(), __builtin_shufflevector(__v, __v, i, j, k, l)); \
  }                                                                                  \
  void __put_##a##b##c##d(vec<T, 4> x) {                                             \
    SM_DISTINCT(i != j && i != k && i != l && j != k && j != l && k != l);           \
    __v[i] = x.__v[0], __v[j] = x.__v[1], __v[k] = x.__v[2], __v[l] = x.__v[3];      \
  }                                                                                  \
  SM_GET(a##b##c##d, SM_V4, a##b##c##d)                                              \
  SM_GET(a##b##c##d, SM_V4, p##q##r##s)

// All sequences of up to four of the first 2, 3 or 4 components.
#define SM_L2(F, ...) F(__VA_ARGS__, x, r, 0) F(__VA_ARGS__, y, g, 1)
#define SM_L3(F, ...) SM_L2(F, __VA_ARGS__) F(__VA_ARGS__, z, b, 2)
#define SM_L4(F, ...) SM_L3(F, __VA_ARGS__) F(__VA_ARGS__, w, a, 3)
#define SM_4_OF_2(...) SM_S3(__VA_ARGS__) SM_4_OF_2_(__VA_ARGS__)
#define SM_4_OF_2_(...)       \
  SM_S4(__VA_ARGS__, x, r, 0) \
  SM_S4(__VA_ARGS__, y, g, 1)
#define SM_4_OF_3(...) SM_4_OF_2(__VA_ARGS__) SM_S4(__VA_ARGS__, z, b, 2)
#define SM_4_OF_4(...) SM_4_OF_3(__VA_ARGS__) SM_S4(__VA_ARGS__, w, a, 3)
#define SM_3_OF_2(...)            \
  SM_S2(__VA_ARGS__)              \
  SM_4_OF_2(__VA_ARGS__, x, r, 0) \
  SM_4_OF_2(__VA_ARGS__, y, g, 1)
#define SM_3_OF_3(...)            \
  SM_S2(__VA_ARGS__)              \
  SM_4_OF_3(__VA_ARGS__, x, r, 0) \
  SM_4_OF_3(__VA_ARGS__, y, g, 1) \
  SM_4_OF_3(__VA_ARGS__, z, b, 2)
#define SM_3_OF_4(...)            \
  SM_S2(__VA_ARGS__)              \
  SM_4_OF_4(__VA_ARGS__, x, r, 0) \
  SM_4_OF_4(__VA_ARGS__, y, g, 1) \
  SM_4_OF_4(__VA_ARGS__, z, b, 2) \
  SM_4_OF_4(__VA_ARGS__, w, a, 3)
#define SM_2_OF_2(...)            \
  SM_S1(__VA_ARGS__)              \
  SM_3_OF_2(__VA_ARGS__, x, r, 0) \
  SM_3_OF_2(__VA_ARGS__, y, g, 1)
#define SM_2_OF_3(...)            \
  SM_S1(__VA_ARGS__)              \
  SM_3_OF_3(__VA_ARGS__, x, r, 0) \
  SM_3_OF_3(__VA_ARGS__, y, g, 1) \
  SM_3_OF_3(__VA_ARGS__, z, b, 2)
#define SM_2_OF_4(...)            \
  SM_S1(__VA_ARGS__)              \
  SM_3_OF_4(__VA_ARGS__, x, r, 0) \
  SM_3_OF_4(__VA_ARGS__, y, g, 1) \
  SM_3_OF_4(__VA_ARGS__, z, b, 2) \
  SM_3_OF_4(__VA_ARGS__, w, a, 3)

template <class T>
struct vec<T, 2> {
  SM_VECTOR_BODY(2)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  constexpr vec(T a, T b) : __v{a, b} {}
  SM_2_OF_2(x, r, 0)
  SM_2_OF_2(y, g, 1)
};

template <class T>
struct vec<T, 3> {
  SM_VECTOR_BODY(3)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  constexpr vec(T a, T b, T c) : __v{a, b, c} {}
  vec(vec<T, 2> a, T b) : __v{a.__v[0], a.__v[1], b} {}
  vec(T a, vec<T, 2> b) : __v{a, b.__v[0], b.__v[1]} {}
  SM_2_OF_3(x, r, 0)
  SM_2_OF_3(y, g, 1)
  SM_2_OF_3(z, b, 2)
};

template <class T>
struct vec<T, 4> {
  SM_VECTOR_BODY(4)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  constexpr vec(T a, T b, T c, T d) : __v{a, b, c, d} {}
  vec(vec<T, 2> a, T b, T c) : __v{a.__v[0], a.__v[1], b, c} {}
  vec(T a, vec<T, 2> b, T c) : __v{a, b.__v[0], b.__v[1], c} {}
  vec(T a, T b, vec<T, 2> c) : __v{a, b, c.__v[0], c.__v[1]} {}
  vec(vec<T, 2> a, vec<T, 2> b) : __v{a.__v[0], a.__v[1], b.__v[0], b.__v[1]} {}
  vec(vec<T, 3> a, T b) : __v{a.__v[0], a.__v[1], a.__v[2], b} {}
  vec(T a, vec<T, 3> b) : __v{a, b.__v[0], b.__v[1], b.__v[2]} {}
  SM_2_OF_4(x, r, 0)
  SM_2_OF_4(y, g, 1)
  SM_2_OF_4(z, b, 2)
  SM_2_OF_4(w, a, 3)
};

// What a vector consists of, also of a scalar; and their count.
template <class T>
struct __sm_element {
  typedef T type;
  static constexpr int size() { return 1; }
};
template <class T, int N>
struct __sm_element<vec<T, N>> {
  typedef T type;
  static constexpr int size() { return N; }
};
// The value of an operand. The token pass puts this around the operands of `?:`, because clang
// finds no common type for values of classes that are in different spaces.
template <class T>
constexpr T __sm_value(T x) {
  return x;
}
template <class T>
struct is_vector : false_type {};
template <class T, int N>
struct is_vector<vec<T, N>> : true_type {};
template <class T>
constexpr constant bool is_vector_v = is_vector<T>::value;

}  // namespace metal

#define SM_VECTOR_NAMES(T, NAME)                                                        \
  typedef metal::vec<T, 2> NAME##2;                                                     \
  typedef metal::vec<T, 3> NAME##3;                                                     \
  typedef metal::vec<T, 4> NAME##4;                                                     \
  namespace metal {                                                                     \
  typedef metal::vec<T, 2> NAME##2;                                                     \
  typedef metal::vec<T, 3> NAME##3;                                                     \
  typedef metal::vec<T, 4> NAME##4;                                                     \
  static_assert(sizeof(NAME##2) == 2 * sizeof(T) && sizeof(NAME##3) == 4 * sizeof(T) && \
                    sizeof(NAME##4) == 4 * sizeof(T),                                   \
                "");                                                                    \
  }
#define SM_EACH_VECTOR_TYPE(F) \
  F(bool, bool)                \
  F(char, char)                \
  F(uchar, uchar)              \
  F(short, short)              \
  F(ushort, ushort)            \
  F(int, int)                  \
  F(uint, uint)                \
  F(long, long)                \
  F(ulong, ulong)              \
  F(half, half)                \
  F(bfloat, bfloat)            \
  F(float, float)
SM_EACH_VECTOR_TYPE(SM_VECTOR_NAMES)
#undef SM_VECTOR_NAMES
