// Vectors: classes over clang's extended vectors, whose rules differ from MSL's. In MSL,
// comparisons give vectors of bool, vectors convert only by constructors, and components have no
// address. Swizzles are properties, which clang turns into calls of a getter and a setter.
#pragma once

#include "traits.h"

namespace metal {

// The class has an array type as parameter, so that a template may deduce the number of components
// in any type: programs have `template <typename T, uint N> void f(vec<T, N>)`, also with int or
// size_t.
template <class A>
struct __sm_vec;
template <class T, auto N>
using vec = __sm_vec<T[N]>;

template <class T>
struct __sm_storage {
  typedef T type;
};
template <>
struct __sm_storage<bool> {
  typedef uchar type;
};
// An extended vector of the type that stores T.
template <class T, int N>
using __sm_raw = typename __sm_storage<T>::type __attribute__((ext_vector_type(N)));

struct __sm_raw_tag {};

// Whether a scalar of type U converts implicitly to a vector of T: not if a fraction would be lost.
template <class U, class T>
using __sm_splats =
    enable_if_t<is_arithmetic<U>::value && (is_integral<U>::value || is_floating_point<T>::value)>;
template <class U, class T>
using __sm_splats_by_cast =
    enable_if_t<is_floating_point<U>::value && !is_floating_point<T>::value>;

template <class T, int N, class U>
inline __sm_raw<T, N> __sm_convert(__sm_raw<U, N> from) {
  if constexpr (is_same<T, bool>::value) {
    return __builtin_convertvector(from != (__sm_raw<U, N>)(U)0, __sm_raw<uchar, N>) & (uchar)1;
  } else {
    return __builtin_convertvector(from, __sm_raw<T, N>);
  }
}

#define SM_OPERATOR(OP)                                           \
  friend constexpr __sm_vec operator OP(__sm_vec a, __sm_vec b) { \
    return __sm_vec(__sm_raw_tag(), a.__v OP b.__v);              \
  }                                                               \
  __generic __sm_vec& operator OP##=(__sm_vec b) {                \
    __v = __v OP b.__v;                                           \
    return *this;                                                 \
  }
// Defines shifts by vectors of the other signedness.
#define SM_MIXED_SHIFT(OP)                                                                \
  template <class U, class = enable_if_t<is_integral<U>::value && !is_same<U, T>::value>> \
  friend inline __sm_vec operator OP(__sm_vec a, vec<U, kSize> b) {                       \
    return a OP __sm_vec(b);                                                              \
  }
#define SM_COMPARISON(OP)                                                            \
  friend inline vec<bool, kSize> operator OP(__sm_vec a, __sm_vec b) {               \
    return vec<bool, kSize>(                                                         \
        __sm_raw_tag(),                                                              \
        __builtin_convertvector(a.__v OP b.__v, __sm_raw<uchar, kSize>) & (uchar)1); \
  }

// Components are fields, since clang drops a property if the other operand is template-dependent.
#define SM_XYZW_2 x, y
#define SM_XYZW_3 x, y, z
#define SM_XYZW_4 x, y, z, w
#define SM_RGBA_2 r, g
#define SM_RGBA_3 r, g, b
#define SM_RGBA_4 r, g, b, a

// The members of vectors of all sizes.
#define SM_VECTOR_BODY(N)                                                                          \
  enum { kSize = N };                                                                              \
  typedef T element_type;                                                                          \
  union {                                                                                          \
    __sm_raw<T, N> __v;                                                                            \
    struct {                                                                                       \
      T SM_XYZW_##N;                                                                               \
    };                                                                                             \
    struct {                                                                                       \
      T SM_RGBA_##N;                                                                               \
    };                                                                                             \
  };                                                                                               \
  __sm_vec() = default;                                                                            \
  constexpr __sm_vec(__sm_raw_tag, __sm_raw<T, N> raw) : __v(raw) {}                               \
  template <class U, class = __sm_splats<U, T>>                                                    \
  constexpr __sm_vec(U x) : __v(static_cast<typename __sm_storage<T>::type>(static_cast<T>(x))) {} \
  template <class U, class = __sm_splats_by_cast<U, T>, class = void>                              \
  constexpr explicit __sm_vec(U x)                                                                 \
      : __v(static_cast<typename __sm_storage<T>::type>(static_cast<T>(x))) {}                     \
  template <class U, class = enable_if_t<!is_same<U, T>::value>>                                   \
  explicit __sm_vec(vec<U, N> from) : __v(__sm_convert<T, N, U>(from.__v)) {}                      \
  template <class U, size_t M, class = enable_if_t<(M > N)>>                                       \
  explicit __sm_vec(__sm_vec<U[M]> from) {                                                         \
    for (int i = 0; i < N; ++i) __v[i] = static_cast<T>(from.__v[i]);                              \
  }                                                                                                \
  template <class U, class = enable_if_t<is_same<U, volatile __sm_vec>::value ||                   \
                                         is_same<U, const volatile __sm_vec>::value>>              \
  __sm_vec(__generic U& from) : __v(from.__v) {}                                                   \
  template <class U, class = enable_if_t<__is_same(U, __sm_vec)>>                                  \
  void operator=(U from) volatile {                                                                \
    __v = from.__v;                                                                                \
  }                                                                                                \
  T operator[](size_t i) const { return static_cast<T>(__v[i]); }                                  \
  __generic T& operator[](size_t i) { return reinterpret_cast<__generic T*>(&__v)[i]; }            \
  SM_OPERATOR(+)                                                                                   \
  SM_OPERATOR(-)                                                                                   \
  SM_OPERATOR(*)                                                                                   \
  SM_OPERATOR(/)                                                                                   \
  SM_OPERATOR(%)                                                                                   \
  SM_OPERATOR(&)                                                                                   \
  SM_OPERATOR(|)                                                                                   \
  SM_OPERATOR(^)                                                                                   \
  SM_OPERATOR(<<)                                                                                  \
  SM_OPERATOR(>>)                                                                                  \
  SM_MIXED_SHIFT(<<)                                                                               \
  SM_MIXED_SHIFT(>>)                                                                               \
  SM_COMPARISON(==)                                                                                \
  SM_COMPARISON(!=)                                                                                \
  SM_COMPARISON(<)                                                                                 \
  SM_COMPARISON(>)                                                                                 \
  SM_COMPARISON(<=)                                                                                \
  SM_COMPARISON(>=)                                                                                \
  constexpr __sm_vec operator+() const { return *this; }                                           \
  constexpr __sm_vec operator-() const { return __sm_vec(__sm_raw_tag(), -__v); }                  \
  constexpr __sm_vec operator~() const { return __sm_vec(__sm_raw_tag(), ~__v); }                  \
  vec<bool, N> operator!() const { return *this == __sm_vec(T(0)); }                               \
  friend inline vec<bool, kSize> operator&&(__sm_vec a, __sm_vec b) {                              \
    return (a != __sm_vec(T(0))) & (b != __sm_vec(T(0)));                                          \
  }                                                                                                \
  friend inline vec<bool, kSize> operator||(__sm_vec a, __sm_vec b) {                              \
    return (a != __sm_vec(T(0))) | (b != __sm_vec(T(0)));                                          \
  }                                                                                                \
  __generic __sm_vec& operator++() {                                                               \
    __v = __v + (typename __sm_storage<T>::type)1;                                                 \
    return *this;                                                                                  \
  }                                                                                                \
  __generic __sm_vec& operator--() {                                                               \
    __v = __v - (typename __sm_storage<T>::type)1;                                                 \
    return *this;                                                                                  \
  }                                                                                                \
  __sm_vec operator++(int) {                                                                       \
    __sm_vec old = *this;                                                                          \
    ++*this;                                                                                       \
    return old;                                                                                    \
  }                                                                                                \
  __sm_vec operator--(int) {                                                                       \
    __sm_vec old = *this;                                                                          \
    --*this;                                                                                       \
    return old;                                                                                    \
  }

// A swizzle has two names, with xyzw and with rgba. The setter of a swizzle with a repeated
// component fails when it is used.
#define SM_DISTINCT(CONDITION)                 \
  static_assert(sizeof(T) == 0 || (CONDITION), \
                "a swizzle that repeats a component is not assignable")
#define SM_GET(NAME, TYPE, PUT) \
  __declspec(property(get = __get_##NAME, put = __put_##NAME)) TYPE PUT;
#define SM_S1(a, p, i)
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
struct __sm_vec<T[2]> {
  SM_VECTOR_BODY(2)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  constexpr __sm_vec(T a, T b) : __v{a, b} {}
  SM_2_OF_2(x, r, 0)
  SM_2_OF_2(y, g, 1)
};

template <class T>
struct __sm_vec<T[3]> {
  SM_VECTOR_BODY(3)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  constexpr __sm_vec(T a, T b, T c) : __v{a, b, c} {}
  __sm_vec(vec<T, 2> a, T b) : __v{a.__v[0], a.__v[1], b} {}
  __sm_vec(T a, vec<T, 2> b) : __v{a, b.__v[0], b.__v[1]} {}
  SM_2_OF_3(x, r, 0)
  SM_2_OF_3(y, g, 1)
  SM_2_OF_3(z, b, 2)
};

template <class T>
struct __sm_vec<T[4]> {
  SM_VECTOR_BODY(4)
  typedef vec<T, 2> SM_V2;
  typedef vec<T, 3> SM_V3;
  typedef vec<T, 4> SM_V4;
  constexpr __sm_vec(T a, T b, T c, T d) : __v{a, b, c, d} {}
  __sm_vec(vec<T, 2> a, T b, T c) : __v{a.__v[0], a.__v[1], b, c} {}
  __sm_vec(T a, vec<T, 2> b, T c) : __v{a, b.__v[0], b.__v[1], c} {}
  __sm_vec(T a, T b, vec<T, 2> c) : __v{a, b, c.__v[0], c.__v[1]} {}
  __sm_vec(vec<T, 2> a, vec<T, 2> b) : __v{a.__v[0], a.__v[1], b.__v[0], b.__v[1]} {}
  __sm_vec(vec<T, 3> a, T b) : __v{a.__v[0], a.__v[1], a.__v[2], b} {}
  __sm_vec(T a, vec<T, 3> b) : __v{a, b.__v[0], b.__v[1], b.__v[2]} {}
  SM_2_OF_4(x, r, 0)
  SM_2_OF_4(y, g, 1)
  SM_2_OF_4(z, b, 2)
  SM_2_OF_4(w, a, 3)
};

// The element type of a vector or scalar, and the number of elements.
template <class T>
struct __sm_element {
  typedef T type;
  static constexpr int size() { return 1; }
};
template <class T, size_t N>
struct __sm_element<__sm_vec<T[N]>> {
  typedef T type;
  static constexpr int size() { return N; }
};
// Returns the value of an operand. The token pass wraps the operands of `?:` in this function,
// because clang finds no common type for class objects in different spaces.
template <class T>
constexpr T __sm_value(T x) {
  return x;
}
// The type of the elements of a vector or scalar, and their number.
template <class T>
struct make_scalar {
  typedef T type;
};
template <class T, size_t N>
struct make_scalar<__sm_vec<T[N]>> {
  typedef T type;
};
template <class T>
using make_scalar_t = typename make_scalar<T>::type;
template <class T>
struct vec_elements : integral_constant<int, 1> {};
template <class T, size_t N>
struct vec_elements<__sm_vec<T[N]>> : integral_constant<int, N> {};
// The types that functions of simdgroups accept, under the name in Apple's header.
template <class T>
struct __is_valid_simdgroup_type : is_arithmetic<make_scalar_t<T>> {};
// static_cast<T>(x), also between half and bfloat, which clang does not convert. Symbol names of
// instances omit address spaces, so the space's number is an extra argument.
template <class T, class U, int kSpace = __sm_without_space<T>::space>
constexpr typename __sm_without_space<T>::type __sm_static_cast(U x) {
  using To = typename __sm_without_space<T>::type;
  if constexpr ((is_same<To, half>::value && is_same<U, bfloat>::value) ||
                (is_same<To, bfloat>::value && is_same<U, half>::value)) {
    return static_cast<To>(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}
// The vector of a braced list that is too short, with zeros for missing elements. The token pass
// replaces each such list by a call of this function.
template <class T>
inline void __sm_append(__private T* all, __private int& count, typename type_identity<T>::type x) {
  if (count < 4) all[count++] = x;
}
template <class T, class U, size_t N>
inline void __sm_append(__private T* all, __private int& count, __sm_vec<U[N]> x) {
  for (size_t i = 0; i < N; ++i) __sm_append<T>(all, count, static_cast<T>(x.__v[i]));
}
template <class V, class... A>
inline V __sm_list(A... a) {
  typedef typename __sm_element<V>::type T;
  T all[4] = {};
  int count = 0;
  (__sm_append(all, count, a), ...);
  V v;
  for (int i = 0; i < __sm_element<V>::size(); ++i) v.__v[i] = all[i];
  return v;
}
template <class T>
struct is_vector : false_type {};
template <class T, size_t N>
struct is_vector<__sm_vec<T[N]>> : true_type {};
template <class T, size_t N>
struct numeric_limits<__sm_vec<T[N]>> {
  typedef numeric_limits<T> __of;
  static constexpr constant bool is_specialized = true;
  static constexpr constant bool is_signed = __of::is_signed;
  static constexpr constant bool is_integer = __of::is_integer;
  static constexpr __sm_vec<T[N]> min() { return __sm_vec<T[N]>(__of::min()); }
  static constexpr __sm_vec<T[N]> max() { return __sm_vec<T[N]>(__of::max()); }
  static constexpr __sm_vec<T[N]> lowest() { return __sm_vec<T[N]>(__of::lowest()); }
  static constexpr __sm_vec<T[N]> infinity() { return __sm_vec<T[N]>(__of::infinity()); }
  static constexpr __sm_vec<T[N]> quiet_NaN() { return __sm_vec<T[N]>(__of::quiet_NaN()); }
};
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
