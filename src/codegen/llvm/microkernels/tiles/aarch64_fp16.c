// aarch64 with `fmlal`, which multiplies halves and adds to floats without rounding the products.
#include "codegen/llvm/microkernels/tiles/aarch64_neon.h"

// A register of the right side is 4 columns, of which `fmlal` takes the low half of a register.
typedef float f16_sum;
typedef uint16_t f16_left, f16_right;
typedef float32x4_t f16_vector;
typedef float16x8_t f16_operand;
#define f16_zero ZeroF32
#define f16_load LoadF32
#define f16_store StoreF32
MMT4D_INLINE float16x8_t f16_read_left(const uint16_t* step, int row, int m0) {
  return vreinterpretq_f16_u16(
      vdupq_n_u16(m0 < 4 ? step[row] : vld1_u16(step + row / 4 * 4)[row % 4]));
}
MMT4D_INLINE float16x8_t f16_read_right(const uint16_t* step, int j) {
  const uint16x4_t columns = vld1_u16(step + 4 * j);
  return vreinterpretq_f16_u16(vcombine_u16(columns, columns));
}
MMT4D_INLINE float32x4_t f16_multiply_add(float32x4_t sums, float16x8_t left, float16x8_t right) {
  return vfmlalq_low_f16(sums, right, left);
}
#define TYPES f16f16f32
#define KIT f16
#include "codegen/llvm/microkernels/rows.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
