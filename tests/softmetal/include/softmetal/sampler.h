// Samplers, each with a state of 8 bytes, and the options of levels for sample().
#pragma once

#include "vector.h"

namespace metal {

enum class coord { normalized, pixel };
enum class address { clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat };
enum class s_address { clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat };
enum class t_address { clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat };
enum class r_address { clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat };
enum class border_color { transparent_black, opaque_black, opaque_white };
enum class filter { nearest, linear };
enum class mag_filter { nearest, linear };
enum class min_filter { nearest, linear };
enum class mip_filter { none, nearest, linear };
enum class compare_func {
  never,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  always,
  none = never
};

struct max_anisotropy {
  int value;
  constexpr max_anisotropy(int v) : value(v) {}
};
struct lod_clamp {
  float low, high;
  constexpr lod_clamp(float l, float h) : low(l), high(h) {}
};

// The layout of the bits is SamplerBits in abi.h.
struct sampler {
  ulong __bits;
  constexpr sampler() : __bits(0) {}
  template <class First, class... Rest, class = enable_if_t<!is_same<First, sampler>::value>>
  constexpr explicit sampler(First first, Rest... rest) : __bits(0) {
    __apply(first);
    __rest(rest...);
  }

 private:
  constexpr void __rest() {}
  template <class First, class... Rest>
  constexpr void __rest(First first, Rest... rest) {
    __apply(first);
    __rest(rest...);
  }
  constexpr void __set(uint shift, ulong mask, ulong value) {
    __bits = (__bits & ~(mask << shift)) | (value << shift);
  }
  constexpr void __apply(coord c) { __set(0, 1, ulong(c)); }
  constexpr void __apply(s_address a) { __set(1, 7, ulong(a)); }
  constexpr void __apply(t_address a) { __set(4, 7, ulong(a)); }
  constexpr void __apply(r_address a) { __set(7, 7, ulong(a)); }
  constexpr void __apply(address a) {
    __set(1, 7, ulong(a));
    __set(4, 7, ulong(a));
    __set(7, 7, ulong(a));
  }
  constexpr void __apply(mag_filter f) { __set(10, 1, ulong(f)); }
  constexpr void __apply(min_filter f) { __set(11, 1, ulong(f)); }
  constexpr void __apply(filter f) {
    __set(10, 1, ulong(f));
    __set(11, 1, ulong(f));
  }
  constexpr void __apply(mip_filter f) { __set(12, 3, ulong(f)); }
  constexpr void __apply(border_color c) { __set(14, 3, ulong(c)); }
  constexpr void __apply(compare_func f) { __set(16, 7, ulong(f)); }
  constexpr void __apply(max_anisotropy a) { __set(19, 31, ulong(a.value)); }
  // Both limits are in 1/64 of a level, with 16 bits each.
  constexpr void __apply(lod_clamp c) {
    __set(24, 0xffff, ulong(c.low * 64));
    __set(40, 0xffff, c.high > 1000.0f ? 0xfffful : ulong(c.high * 64) + 1);
  }
};

// Arguments of sample() in addition to the coordinates.
struct level {
  float value;
  constexpr level(float v) : value(v) {}
};
struct bias {
  float value;
  constexpr bias(float v) : value(v) {}
};
struct min_lod_clamp {
  float value;
  constexpr min_lod_clamp(float v) : value(v) {}
};
#define SM_GRADIENT(NAME, N)                                 \
  struct NAME {                                              \
    vec<float, N> dx, dy;                                    \
    NAME(vec<float, N> x, vec<float, N> y) : dx(x), dy(y) {} \
  };
SM_GRADIENT(gradient2d, 2)
SM_GRADIENT(gradient3d, 3)
SM_GRADIENT(gradientcube, 3)
#undef SM_GRADIENT
template <class L>
struct __sm_is_lod : false_type {};
template <>
struct __sm_is_lod<level> : true_type {};
template <>
struct __sm_is_lod<bias> : true_type {};
template <>
struct __sm_is_lod<min_lod_clamp> : true_type {};
template <>
struct __sm_is_lod<gradient2d> : true_type {};
template <>
struct __sm_is_lod<gradient3d> : true_type {};
template <>
struct __sm_is_lod<gradientcube> : true_type {};

}  // namespace metal
