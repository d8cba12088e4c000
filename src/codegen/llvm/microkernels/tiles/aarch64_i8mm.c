// aarch64 with products of matrices of bytes: `smmla` and `usmmla` multiply [2, 8] by [8, 2].
#include "codegen/llvm/microkernels/tiles/aarch64_neon.h"

typedef int32_t i8_sum;
typedef int8_t i8_left, i8_right;
typedef int32x4_t i8_vector;
typedef int8x16_t i8_left_block, i8_right_block;
#define i8_zero ZeroI32
#define i8_read_right vld1q_s8
#define i8_multiply_add vmmlaq_s32
MMT4D_INLINE int32x4_t i8_load(const int32_t* from, int n0, int rows) {
  const int32x2_t first = vld1_s32(from);
  return vcombine_s32(first, rows == 2 ? vld1_s32(from + n0) : first);
}
MMT4D_INLINE void i8_store(int32_t* to, int n0, int rows, int32x4_t v) {
  vst1_s32(to, vget_low_s32(v));
  if (rows == 2) vst1_s32(to + n0, vget_high_s32(v));
}
MMT4D_INLINE int8x16_t i8_read_left(const int8_t* from, int rows) {
  return rows == 2 ? vld1q_s8(from) : vcombine_s8(vld1_s8(from), vdup_n_s8(0));
}
#define TYPES i8i8i32
#define KIT i8
#include "codegen/llvm/microkernels/blocks.inc"

typedef int32_t u8_sum;
typedef uint8_t u8_left;
typedef int8_t u8_right;
typedef int32x4_t u8_vector;
typedef uint8x16_t u8_left_block;
typedef int8x16_t u8_right_block;
#define u8_zero ZeroI32
#define u8_load i8_load
#define u8_store i8_store
#define u8_read_right vld1q_s8
#define u8_multiply_add vusmmlaq_s32
MMT4D_INLINE uint8x16_t u8_read_left(const uint8_t* from, int rows) {
  return rows == 2 ? vld1q_u8(from) : vcombine_u8(vld1_u8(from), vdup_n_u8(0));
}
#define TYPES u8i8i32
#define KIT u8
#include "codegen/llvm/microkernels/blocks.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
