// Builtins of Apple's compiler that programs call by name, to define functions of metal_math for
// their own types. The last argument selects fast variants.
#pragma once

#include "threads.h"

#define __METAL_MAYBE_FAST_MATH__ false
#define __METAL_FAST_MATH__ true
#define __METAL_PRECISE_MATH__ false

#define SM_INTERNAL_1(F)            \
  template <class T>                \
  inline T __metal_##F(T x, bool) { \
    return metal::precise::F(x);    \
  }
#define SM_INTERNAL_2(F)                         \
  template <class T>                             \
  inline T __metal_##F(T x, T y, bool = false) { \
    return metal::precise::F(x, y);              \
  }
#define SM_INTERNAL_3(F)                              \
  template <class T>                                  \
  inline T __metal_##F(T x, T y, T z, bool = false) { \
    return metal::precise::F(x, y, z);                \
  }
SM_EACH_LIBRARY_1(SM_INTERNAL_1)
SM_INTERNAL_1(fabs)
SM_INTERNAL_1(ceil)
SM_INTERNAL_1(floor)
SM_INTERNAL_1(fract)
SM_INTERNAL_1(rint)
SM_INTERNAL_1(round)
SM_INTERNAL_1(sqrt)
SM_INTERNAL_1(trunc)
SM_INTERNAL_2(atan2)
SM_INTERNAL_2(divide)
SM_INTERNAL_2(fmax)
SM_INTERNAL_2(fmin)
SM_INTERNAL_2(fmod)
SM_INTERNAL_2(nextafter)
SM_INTERNAL_2(pow)
SM_INTERNAL_2(powr)
SM_INTERNAL_3(fma)
SM_INTERNAL_3(fmax3)
SM_INTERNAL_3(fmin3)
SM_INTERNAL_3(fmedian3)
template <class T>
inline T __metal_ldexp(T x, int k, bool) {
  return metal::precise::ldexp(x, k);
}
template <class T>
inline T __metal_frexp(T x, thread int* exponent) {
  return metal::precise::frexp(x, *exponent);
}

#define SM_INTERNAL_SIMD(F)                 \
  template <class... A>                     \
  SM_INLINE auto __metal_simd_##F(A... a) { \
    return metal::simd_##F(a...);           \
  }
SM_INTERNAL_SIMD(sum)
SM_INTERNAL_SIMD(product)
SM_INTERNAL_SIMD(min)
SM_INTERNAL_SIMD(max)
template <class T>
SM_INLINE T __metal_simd_xor(T x) {
  if constexpr (metal::is_floating_point<T>::value) {
    return x;  // programs also name the xor of floats, which does not exist
  } else {
    return metal::simd_xor(x);
  }
}
SM_INTERNAL_SIMD(broadcast)
SM_INTERNAL_SIMD(shuffle)
SM_INTERNAL_SIMD(shuffle_down)
SM_INTERNAL_SIMD(shuffle_up)
SM_INTERNAL_SIMD(shuffle_xor)
SM_INTERNAL_SIMD(shuffle_rotate_up)
SM_INTERNAL_SIMD(shuffle_rotate_down)
SM_INTERNAL_SIMD(prefix_inclusive_sum)
SM_INTERNAL_SIMD(prefix_exclusive_sum)
SM_INTERNAL_SIMD(prefix_inclusive_product)
SM_INTERNAL_SIMD(prefix_exclusive_product)
template <class T>
SM_INLINE T __metal_simd_shuffle_and_fill_up(T x, T fill, ushort delta, ushort modulo) {
  return metal::simd_shuffle_and_fill_up(x, fill, delta, modulo);
}
template <class T>
SM_INLINE T __metal_simd_shuffle_and_fill_down(T x, T fill, ushort delta, ushort modulo) {
  return metal::simd_shuffle_and_fill_down(x, fill, delta, modulo);
}
inline ushort __metal_get_thread_index_in_simdgroup(ushort) { return (ushort)__sm_lane(0); }
inline ushort __metal_get_simdgroup_size(ushort) { return (ushort)__sm_lane_count(0); }
