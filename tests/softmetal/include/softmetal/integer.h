// <metal_integer>.
#pragma once

#include "math.h"

namespace metal {

// The integer type of twice the width, in which sums and products do not overflow.
template <class T>
struct __sm_wider;
template <>
struct __sm_wider<char> {
  typedef int type;
};
template <>
struct __sm_wider<uchar> {
  typedef int type;
};
template <>
struct __sm_wider<short> {
  typedef int type;
};
template <>
struct __sm_wider<ushort> {
  typedef int type;
};
template <>
struct __sm_wider<int> {
  typedef long type;
};
template <>
struct __sm_wider<uint> {
  typedef long type;
};
template <>
struct __sm_wider<long> {
  typedef __int128 type;
};
template <>
struct __sm_wider<ulong> {
  typedef __int128 type;
};
template <class T>
inline T __sm_saturate(typename __sm_wider<T>::type x) {
  typedef typename __sm_wider<T>::type W;
  const W low = numeric_limits<T>::lowest(), high = numeric_limits<T>::max();
  return static_cast<T>(x < low ? low : (x > high ? high : x));
}

#define SM_INTEGER_1(F, T, EXPRESSION) \
  inline T F(T x) {                    \
    typedef __sm_wider<T>::type W;     \
    typedef make_unsigned_t<T> U;      \
    return static_cast<T>(EXPRESSION); \
  }                                    \
  SM_VECTORS(1, F, T)
#define SM_INTEGER_2(F, T, EXPRESSION) \
  inline T F(T x, T y) {               \
    typedef __sm_wider<T>::type W;     \
    typedef make_unsigned_t<T> U;      \
    return static_cast<T>(EXPRESSION); \
  }                                    \
  SM_VECTORS(2, F, T)
#define SM_INTEGER_3(F, T, EXPRESSION) \
  inline T F(T x, T y, T z) {          \
    typedef __sm_wider<T>::type W;     \
    typedef make_unsigned_t<T> U;      \
    return static_cast<T>(EXPRESSION); \
  }                                    \
  SM_VECTORS(3, F, T)
#define SM_BITS ((int)(8 * sizeof(x)))

template <class T>
inline T __sm_rotate(T x, T y) {
  typedef make_unsigned_t<T> U;
  const int bits = 8 * sizeof(T), n = (int)(y & (bits - 1));
  U u = (U)x;
  return n == 0 ? x : (T)(U)(((U)(u << n)) | (U)(u >> (bits - n)));
}
template <class T>
inline T __sm_reverse(T x) {
  T r = 0;
  for (uint i = 0; i < 8 * sizeof(T); ++i)
    if (((make_unsigned_t<T>)x >> i) & 1)
      r = (T)(r | (T)((make_unsigned_t<T>)1 << (8 * sizeof(T) - 1 - i)));
  return r;
}
template <class T>
inline T __sm_clz(T x) {
  return x == 0 ? (T)(8 * sizeof(T))
                : (T)(__builtin_clzl((ulong)(make_unsigned_t<T>)x) - (64 - 8 * (int)sizeof(T)));
}
template <class T>
inline T __sm_ctz(T x) {
  return x == 0 ? (T)(8 * sizeof(T)) : (T)__builtin_ctzl((ulong)(make_unsigned_t<T>)x);
}
// The upper half of a product. Signed 64-bit products use __int128, too.
template <class T>
inline T __sm_mulhi(T x, T y) {
  if constexpr (sizeof(T) == 8) {
    typedef conditional_t<is_signed<T>::value, __int128, unsigned __int128> W;
    return (T)(((W)x * (W)y) >> 64);
  } else {
    return (T)(((long)x * (long)y) >> (8 * sizeof(T)));
  }
}
template <class T>
inline T __sm_madsat(T x, T y, T z) {
  if constexpr (sizeof(T) == 8) {
    T product, sum;
    if (!__builtin_mul_overflow(x, y, &product)) {
      if (!__builtin_add_overflow(product, z, &sum)) return sum;
      return z < 0 ? numeric_limits<T>::lowest() : numeric_limits<T>::max();
    }
    // Adding z can bring a product outside the range of 64 bits back into the range only if the
    // signs differ.
    __int128 w = (__int128)x * (__int128)y;
    if constexpr (is_signed<T>::value) return __sm_saturate<T>(w + z);
    return numeric_limits<T>::max();
  } else if constexpr (is_same<T, uint>::value) {
    ulong w = (ulong)x * y + z;
    return w > 0xffffffffu ? 0xffffffffu : (uint)w;
  } else {
    typename __sm_wider<T>::type w = (typename __sm_wider<T>::type)x * y + z;
    return __sm_saturate<T>(w);
  }
}

#define SM_INTEGER(T)                                                                        \
  SM_INTEGER_1(abs, T, x < 0 ? (T)(0 - (U)x) : x)                                            \
  SM_INTEGER_1(sign, T, x == 0 ? 0 : (x < 0 ? -1 : 1))                                       \
  SM_INTEGER_2(max, T, x < y ? y : x)                                                        \
  SM_INTEGER_2(min, T, y < x ? y : x)                                                        \
  SM_INTEGER_3(clamp, T, min(max(x, y), z))                                                  \
  SM_INTEGER_3(max3, T, max(x, max(y, z)))                                                   \
  SM_INTEGER_3(min3, T, min(x, min(y, z)))                                                   \
  SM_INTEGER_3(median3, T, max(min(x, y), min(max(x, y), z)))                                \
  SM_INTEGER_2(addsat, T, __sm_saturate<T>((W)x + (W)y))                                     \
  SM_INTEGER_2(subsat, T, __sm_saturate<T>((W)x - (W)y))                                     \
  SM_INTEGER_2(absdiff, T, (U)(x < y ? (U)y - (U)x : (U)x - (U)y))                           \
  SM_INTEGER_2(hadd, T, ((W)x + (W)y) >> 1)                                                  \
  SM_INTEGER_2(rhadd, T, ((W)x + (W)y + 1) >> 1)                                             \
  SM_INTEGER_1(clz, T, __sm_clz<T>(x))                                                       \
  SM_INTEGER_1(ctz, T, __sm_ctz<T>(x))                                                       \
  SM_INTEGER_1(popcount, T, __builtin_popcountl((ulong)(U)x))                                \
  SM_INTEGER_1(reverse_bits, T, __sm_reverse<T>(x))                                          \
  SM_INTEGER_2(rotate, T, __sm_rotate<T>(x, y))                                              \
  SM_INTEGER_2(mulhi, T, __sm_mulhi<T>(x, y))                                                \
  SM_INTEGER_3(madhi, T, (U)mulhi(x, y) + (U)z)                                              \
  SM_INTEGER_3(madsat, T, __sm_madsat<T>(x, y, z))                                           \
  inline T extract_bits(T x, uint offset, uint bits) {                                       \
    if (bits == 0) return 0;                                                                 \
    const int up = SM_BITS - (int)offset - (int)bits;                                        \
    T top = (T)((make_unsigned_t<T>)x << up);                                                \
    return (T)(top >> (SM_BITS - (int)bits));                                                \
  }                                                                                          \
  inline T insert_bits(T x, T insert, uint offset, uint bits) {                              \
    typedef make_unsigned_t<T> U;                                                            \
    const U mask = (U)((bits >= (uint)SM_BITS ? ~(U)0 : (U)(((U)1 << bits) - 1)) << offset); \
    return (T)(((U)x & (U)~mask) | ((U)((U)insert << offset) & mask));                       \
  }                                                                                          \
  SM_BIT_FIELDS(T, 2)                                                                        \
  SM_BIT_FIELDS(T, 3)                                                                        \
  SM_BIT_FIELDS(T, 4)
#define SM_BIT_FIELDS(T, N)                                                                   \
  inline vec<T, N> extract_bits(vec<T, N> x, uint offset, uint bits) {                        \
    vec<T, N> r;                                                                              \
    SM_LOOP(N) r.__v[i] = extract_bits(static_cast<T>(x.__v[i]), offset, bits);               \
    return r;                                                                                 \
  }                                                                                           \
  inline vec<T, N> insert_bits(vec<T, N> x, vec<T, N> y, uint offset, uint bits) {            \
    vec<T, N> r;                                                                              \
    SM_LOOP(N)                                                                                \
    r.__v[i] = insert_bits(static_cast<T>(x.__v[i]), static_cast<T>(y.__v[i]), offset, bits); \
    return r;                                                                                 \
  }
SM_INTEGER(char)
SM_INTEGER(uchar)
SM_INTEGER(short)
SM_INTEGER(ushort)
SM_INTEGER(int)
SM_INTEGER(uint)
SM_INTEGER(long)
SM_INTEGER(ulong)

// Products of 24-bit integers ignore the operands' upper bits.
#define SM_24_BITS(T)                                                               \
  SM_INTEGER_2(mul24, T, (T)((T)((uint)x << 8) >> 8) * (T)((T)((uint)y << 8) >> 8)) \
  SM_INTEGER_3(mad24, T, mul24(x, y) + z)
SM_24_BITS(int)
SM_24_BITS(uint)
#undef SM_24_BITS

}  // namespace metal
