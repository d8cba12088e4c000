// For every processor, WebAssembly included: plain C, which compilers vectorize along the columns.
#include "codegen/llvm/microkernels/tile.h"

MMT4D_INLINE float OfFloat(float x) { return x; }
MMT4D_INLINE double OfDouble(double x) { return x; }
MMT4D_INLINE float OfBfloat(uint16_t x) { return FloatOfBits((uint32_t)x << 16); }

// Without a branch, so that it vectorizes: a subnormal half is exact in float arithmetic.
MMT4D_INLINE float OfHalf(uint16_t x) {
  const uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
  const uint32_t magnitude = (uint32_t)(x & 0x7fffu) << 13;
  const float scaled = FloatOfBits(magnitude) * 0x1p+112f;  // of exponents 0..30
  const float special = FloatOfBits(magnitude | 0x7f800000u);
  const float value = magnitude >= 0x0f800000u ? special : scaled;
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return FloatOfBits(bits | sign);
}

// Integers are multiplied and added modulo 2^32, without signed overflow.
MMT4D_INLINE uint32_t OfInt8(int8_t x) { return (uint32_t)(int32_t)x; }
MMT4D_INLINE uint32_t OfUint8(uint8_t x) { return x; }
MMT4D_INLINE uint32_t OfInt16(int16_t x) { return (uint32_t)(int32_t)x; }

// The products of one step of K1, for a row of the tile.
#define DEFINE_TILE(types, sum, left_t, right_t, left_value, right_value)                        \
  MMT4D_INLINE void tile_##types(int m0, int n0, int k0, MMT4D_PARAMETERS) {                     \
    enum { kMaxColumns = 8 };                                                                    \
    const left_t* from_left = left;                                                              \
    const right_t* from_right = right;                                                           \
    sum* to = sums;                                                                              \
    sum acc[kMaxRows][kMaxColumns];                                                              \
    for (int i = 0; i < m0; ++i) {                                                               \
      for (int j = 0; j < n0; ++j) acc[i][j] = flags & MMT4D_ACCUMULATE ? to[i * n0 + j] : 0;    \
    }                                                                                            \
    for (int64_t k = 0; k < k1; ++k) {                                                           \
      MMT4D_UNROLL                                                                               \
      for (int i = 0; i < m0; ++i) {                                                             \
        MMT4D_UNROLL                                                                             \
        for (int inner = 0; inner < k0; ++inner) {                                               \
          const sum a = left_value(from_left[i * k0 + inner]);                                   \
          MMT4D_UNROLL                                                                           \
          for (int j = 0; j < n0; ++j) acc[i][j] += a * right_value(from_right[j * k0 + inner]); \
        }                                                                                        \
      }                                                                                          \
      from_left += m0 * k0;                                                                      \
      from_right += n0 * k0;                                                                     \
    }                                                                                            \
    for (int i = 0; i < m0; ++i) {                                                               \
      for (int j = 0; j < n0; ++j) to[i * n0 + j] = acc[i][j];                                   \
    }                                                                                            \
  }

DEFINE_TILE(f32f32f32, float, float, float, OfFloat, OfFloat)
DEFINE_TILE(f64f64f64, double, double, double, OfDouble, OfDouble)
DEFINE_TILE(f16f16f32, float, uint16_t, uint16_t, OfHalf, OfHalf)
DEFINE_TILE(bf16bf16f32, float, uint16_t, uint16_t, OfBfloat, OfBfloat)
DEFINE_TILE(i8i8i32, uint32_t, int8_t, int8_t, OfInt8, OfInt8)
DEFINE_TILE(u8i8i32, uint32_t, uint8_t, int8_t, OfUint8, OfInt8)
DEFINE_TILE(i16i16i32, uint32_t, int16_t, int16_t, OfInt16, OfInt16)

MMT4D_INLINE void tile_i8i4f32(int m0, int n0, int k0, MMT4D_PARAMETERS) {
  const int8_t* from_left = left;
  const uint8_t* from_right = right;
  float* to = sums;
  if (!(flags & MMT4D_ACCUMULATE)) {
    for (int i = 0; i < m0 * n0; ++i) to[i] = 0.0f;
  }
  for (int64_t done = 0; done < k1; done += group, scales += n0) {
    const int64_t steps = k1 - done < group ? k1 - done : group;
    for (int i = 0; i < m0; ++i) {
      for (int j = 0; j < n0; ++j) {
        int32_t sum = 0;
        for (int64_t k = 0; k < steps; ++k) {
          const int8_t* a = from_left + (k * m0 + i) * k0;
          const uint8_t* b = from_right + (k * n0 + j) * k0 / 2;
          MMT4D_UNROLL
          for (int inner = 0; inner < k0 / 2; ++inner) {
            sum += a[inner] * (((b[inner] & 15) ^ 8) - 8) +
                   a[k0 / 2 + inner] * ((b[inner] >> 4 ^ 8) - 8);
          }
        }
        to[i * n0 + j] += (float)sum * scales[j];
      }
    }
    from_left += steps * m0 * k0;
    from_right += steps * n0 * k0 / 2;
  }
}

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
