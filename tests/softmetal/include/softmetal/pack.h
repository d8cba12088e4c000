// <metal_pack>: normalized integers and sRGB.
#pragma once

#include "relational.h"

namespace metal {

// Convert to and from normalized integers of `bits` bits, rounding to nearest even.
inline uint __sm_to_unorm(float x, uint bits) {
  return x != x ? 0u : (uint)rint(clamp(x, 0.0f, 1.0f) * (float)((1u << bits) - 1));
}
inline uint __sm_to_snorm(float x, uint bits) {
  const float scale = (float)((1u << (bits - 1)) - 1);
  return x != x ? 0u : (uint)(int)rint(clamp(x, -1.0f, 1.0f) * scale) & ((1u << bits) - 1);
}
inline float __sm_from_unorm(uint x, uint bits) { return (float)x / (float)((1u << bits) - 1); }
inline float __sm_from_snorm(uint x, uint bits) {
  const int value = (int)(x << (32 - bits)) >> (32 - bits);
  return max((float)value / (float)((1u << (bits - 1)) - 1), -1.0f);
}
inline float __sm_to_srgb(float x) {
  if (!(x > 0.0f)) return 0.0f;
  if (x >= 1.0f) return 1.0f;
  return x < 0.0031308f ? 12.92f * x : 1.055f * pow(x, 1.0f / 2.4f) - 0.055f;
}
inline float __sm_from_srgb(float x) {
  return x <= 0.04045f ? x / 12.92f : pow((x + 0.055f) / 1.055f, 2.4f);
}

#define SM_PACK(KIND, FROM, TO, T, NAME)                                                       \
  inline uint pack_##NAME##_to_##KIND##4x8(vec<T, 4> v) {                                      \
    return TO((float)v[0], 8) | TO((float)v[1], 8) << 8 | TO((float)v[2], 8) << 16 |           \
           TO((float)v[3], 8) << 24;                                                           \
  }                                                                                            \
  inline uint pack_##NAME##_to_##KIND##2x16(vec<T, 2> v) {                                     \
    return TO((float)v[0], 16) | TO((float)v[1], 16) << 16;                                    \
  }                                                                                            \
  inline vec<T, 4> unpack_##KIND##4x8_to_##NAME(uint x) {                                      \
    return vec<T, 4>((T)FROM(x & 255, 8), (T)FROM(x >> 8 & 255, 8), (T)FROM(x >> 16 & 255, 8), \
                     (T)FROM(x >> 24, 8));                                                     \
  }                                                                                            \
  inline vec<T, 2> unpack_##KIND##2x16_to_##NAME(uint x) {                                     \
    return vec<T, 2>((T)FROM(x & 65535, 16), (T)FROM(x >> 16, 16));                            \
  }
SM_PACK(unorm, __sm_from_unorm, __sm_to_unorm, float, float)
SM_PACK(unorm, __sm_from_unorm, __sm_to_unorm, half, half)
SM_PACK(snorm, __sm_from_snorm, __sm_to_snorm, float, float)
SM_PACK(snorm, __sm_from_snorm, __sm_to_snorm, half, half)
#undef SM_PACK

#define SM_PACK_COLOR(T, NAME)                                                                 \
  inline uint pack_##NAME##_to_srgb_unorm4x8(vec<T, 4> v) {                                    \
    return pack_float_to_unorm4x8(                                                             \
        float4(__sm_to_srgb(v[0]), __sm_to_srgb(v[1]), __sm_to_srgb(v[2]), (float)v[3]));      \
  }                                                                                            \
  inline vec<T, 4> unpack_unorm4x8_srgb_to_##NAME(uint x) {                                    \
    float4 v = unpack_unorm4x8_to_float(x);                                                    \
    return vec<T, 4>(                                                                          \
        float4(__sm_from_srgb(v[0]), __sm_from_srgb(v[1]), __sm_from_srgb(v[2]), v[3]));       \
  }                                                                                            \
  inline ushort pack_##NAME##_to_unorm565(vec<T, 3> v) {                                       \
    return (ushort)(__sm_to_unorm(v[0], 5) | __sm_to_unorm(v[1], 6) << 5 |                     \
                    __sm_to_unorm(v[2], 5) << 11);                                             \
  }                                                                                            \
  inline uint pack_##NAME##_to_unorm10a2(vec<T, 4> v) {                                        \
    return __sm_to_unorm(v[0], 10) | __sm_to_unorm(v[1], 10) << 10 |                           \
           __sm_to_unorm(v[2], 10) << 20 | __sm_to_unorm(v[3], 2) << 30;                       \
  }                                                                                            \
  inline vec<T, 3> unpack_unorm565_to_##NAME(ushort x) {                                       \
    return vec<T, 3>((T)__sm_from_unorm(x & 31, 5), (T)__sm_from_unorm(x >> 5 & 63, 6),        \
                     (T)__sm_from_unorm(x >> 11, 5));                                          \
  }                                                                                            \
  inline vec<T, 4> unpack_unorm10a2_to_##NAME(uint x) {                                        \
    return vec<T, 4>((T)__sm_from_unorm(x & 1023, 10), (T)__sm_from_unorm(x >> 10 & 1023, 10), \
                     (T)__sm_from_unorm(x >> 20 & 1023, 10), (T)__sm_from_unorm(x >> 30, 2));  \
  }
SM_PACK_COLOR(half, half)
SM_PACK_COLOR(float, float)
#undef SM_PACK_COLOR

}  // namespace metal
