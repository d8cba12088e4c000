// aarch64 with dot products of bytes, `sdot`.
#include "codegen/llvm/microkernels/tiles/aarch64_neon.h"

// A row's 4 bytes: one of the lanes of a register, which `sdot` takes as they are.
typedef struct {
  int8x16_t rows;
  int lane;
} RowBytes;

typedef int32_t i8_sum;
typedef int8_t i8_left, i8_right;
typedef int32x4_t i8_vector;
typedef int8x16_t i8_operand;
#define i8_zero ZeroI32
#define i8_load LoadI32
#define i8_store StoreI32
MMT4D_INLINE RowBytes i8_read_left(const int8_t* step, int row, int m0) {
  if (m0 >= 4) return (RowBytes){vld1q_s8(step + row / 4 * 16), row % 4};
  return (RowBytes){vreinterpretq_s8_s32(vdupq_n_s32(LoadInt32(step + 4 * row))), 0};
}
MMT4D_INLINE int8x16_t i8_read_right(const int8_t* step, int j) { return vld1q_s8(step + 16 * j); }
// The lane is a constant where this is inlined, but the intrinsics want a literal.
MMT4D_INLINE int32x4_t i8_multiply_add(int32x4_t sums, RowBytes left, int8x16_t right) {
  switch (left.lane) {
    case 0:
      return vdotq_laneq_s32(sums, right, left.rows, 0);
    case 1:
      return vdotq_laneq_s32(sums, right, left.rows, 1);
    case 2:
      return vdotq_laneq_s32(sums, right, left.rows, 2);
    default:
      return vdotq_laneq_s32(sums, right, left.rows, 3);
  }
}
#define TYPES i8i8i32
#define KIT i8
#include "codegen/llvm/microkernels/rows.inc"

// A column of 8 values of 4 bits is 4 bytes: the low halves meet the row's first 4 values.
typedef int32x4_t i8i4_vector;
typedef int8x16_t i8i4_operand;
typedef float32x4_t i8i4_scaled;
#define i8i4_zero ZeroI32
#define i8i4_scaled_zero ZeroF32
#define i8i4_scaled_load LoadF32
#define i8i4_scaled_store StoreF32
MMT4D_INLINE void i8i4_unpack(int8x16_t* low, int8x16_t* high, const uint8_t* step, int j) {
  const int8x16_t both = vreinterpretq_s8_u8(vld1q_u8(step + 16 * j));
  *low = vshrq_n_s8(vshlq_n_s8(both, 4), 4);
  *high = vshrq_n_s8(both, 4);
}
MMT4D_INLINE int32x4_t i8i4_multiply_add(int32x4_t sums, const int8_t* row, int8x16_t low,
                                         int8x16_t high) {
  const int8x8_t left = vld1_s8(row);
  return vdotq_lane_s32(vdotq_lane_s32(sums, low, left, 0), high, left, 1);
}
MMT4D_INLINE float32x4_t i8i4_scale(float32x4_t scaled, int32x4_t sums, int32_t term,
                                    const float* scales) {
  return vfmaq_f32(scaled, vcvtq_f32_s32(sums), LoadF32(scales));
}
#define TYPES i8i4f32
#define KIT i8i4
#include "codegen/llvm/microkernels/groups.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
