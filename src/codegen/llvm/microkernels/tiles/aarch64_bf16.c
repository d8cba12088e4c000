// aarch64 with products of matrices of bfloat16: `bfmmla` multiplies [2, 4] by [4, 2]. It rounds in
// ways of its own, and takes subnormals as zeros.
#include "codegen/llvm/microkernels/tiles/aarch64_neon.h"

typedef float bf16_sum;
typedef uint16_t bf16_left, bf16_right;
typedef float32x4_t bf16_vector;
typedef bfloat16x8_t bf16_left_block, bf16_right_block;
#define bf16_zero ZeroF32
#define bf16_multiply_add vbfmmlaq_f32
MMT4D_INLINE float32x4_t bf16_load(const float* from, int n0, int rows) {
  const float32x2_t first = vld1_f32(from);
  return vcombine_f32(first, rows == 2 ? vld1_f32(from + n0) : first);
}
MMT4D_INLINE void bf16_store(float* to, int n0, int rows, float32x4_t v) {
  vst1_f32(to, vget_low_f32(v));
  if (rows == 2) vst1_f32(to + n0, vget_high_f32(v));
}
MMT4D_INLINE bfloat16x8_t bf16_read_left(const uint16_t* from, int rows) {
  return vreinterpretq_bf16_u16(rows == 2 ? vld1q_u16(from)
                                          : vcombine_u16(vld1_u16(from), vdup_n_u16(0)));
}
MMT4D_INLINE bfloat16x8_t bf16_read_right(const uint16_t* from) {
  return vreinterpretq_bf16_u16(vld1q_u16(from));
}
#define TYPES bf16bf16f32
#define KIT bf16
#include "codegen/llvm/microkernels/blocks.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
