// aarch64 with what every processor of that architecture has.
#include "codegen/llvm/microkernels/tiles/aarch64_neon.h"

typedef float f32_sum, f32_left, f32_right;
typedef float32x4_t f32_vector, f32_operand;
#define f32_zero ZeroF32
#define f32_load LoadF32
#define f32_store StoreF32
#define f32_read_left SplatF32
#define f32_multiply_add MultiplyAddF32
MMT4D_INLINE float32x4_t f32_read_right(const float* step, int j) { return LoadF32(step + 4 * j); }
#define TYPES f32f32f32
#define KIT f32
#include "codegen/llvm/microkernels/rows.inc"

typedef double f64_sum, f64_left, f64_right;
typedef float64x2_t f64_vector, f64_operand;
MMT4D_INLINE float64x2_t f64_zero(void) { return vdupq_n_f64(0); }
MMT4D_INLINE float64x2_t f64_load(const double* from) { return vld1q_f64(from); }
MMT4D_INLINE void f64_store(double* to, float64x2_t v) { vst1q_f64(to, v); }
MMT4D_INLINE float64x2_t f64_read_left(const double* step, int row, int m0) {
  return vdupq_n_f64(m0 < 2 ? step[row] : vld1q_f64(step + row / 2 * 2)[row % 2]);
}
MMT4D_INLINE float64x2_t f64_read_right(const double* step, int j) {
  return vld1q_f64(step + 2 * j);
}
MMT4D_INLINE float64x2_t f64_multiply_add(float64x2_t sums, float64x2_t left, float64x2_t right) {
  return vfmaq_f64(sums, left, right);
}
#define TYPES f64f64f64
#define KIT f64
#include "codegen/llvm/microkernels/rows.inc"

typedef float f16_sum, f16_wide;
typedef uint16_t f16_left, f16_right;
typedef float32x4_t f16_vector, f16_operand;
#define f16_zero ZeroF32
#define f16_load LoadF32
#define f16_store StoreF32
#define f16_read_left SplatF32
#define f16_multiply_add MultiplyAddF32
MMT4D_INLINE float32x4_t f16_read_right(const uint16_t* step, int j) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(step + 4 * j)));
}
MMT4D_INLINE void f16_widen(float* to, const uint16_t* from, int count) {
  int i = 0;
  for (; i + 4 <= count; i += 4) StoreF32(to + i, f16_read_right(from + i, 0));
  for (; i < count; ++i) to[i] = vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(from[i])))[0];
}
#define TYPES f16f16f32
#define KIT f16
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

typedef float bf16_sum, bf16_wide;
typedef uint16_t bf16_left, bf16_right;
typedef float32x4_t bf16_vector, bf16_operand;
#define bf16_zero ZeroF32
#define bf16_load LoadF32
#define bf16_store StoreF32
#define bf16_read_left SplatF32
#define bf16_multiply_add MultiplyAddF32
#define bf16_widen WidenBfloat
MMT4D_INLINE float32x4_t bf16_read_right(const uint16_t* step, int j) {
  return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(step + 4 * j), 16));
}
#define TYPES bf16bf16f32
#define KIT bf16
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

// `smlal` multiplies 16-bit integers and adds: K0 is 1.
typedef int32_t i16_sum;
typedef int16_t i16_left, i16_right;
typedef int32x4_t i16_vector;
typedef int16x4_t i16_operand;
#define i16_zero ZeroI32
#define i16_load LoadI32
#define i16_store StoreI32
#define i16_multiply_add vmlal_s16
MMT4D_INLINE int16x4_t i16_read_left(const int16_t* step, int row, int m0) {
  return vdup_n_s16(m0 < 4 ? step[row] : vld1_s16(step + row / 4 * 4)[row % 4]);
}
MMT4D_INLINE int16x4_t i16_read_right(const int16_t* step, int j) { return vld1_s16(step + 4 * j); }
#define TYPES i16i16i32
#define KIT i16
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i8_sum;
typedef int16_t i8_wide;
typedef int8_t i8_left, i8_right;
typedef int32x4_t i8_vector;
typedef int16x4_t i8_operand;
#define i8_zero ZeroI32
#define i8_load LoadI32
#define i8_store StoreI32
#define i8_read_left i16_read_left
#define i8_multiply_add vmlal_s16
#define i8_widen WidenInt8
MMT4D_INLINE int16x4_t i8_read_right(const int8_t* step, int j) {
  const int16x8_t wide = vmovl_s8(vld1_s8(step + j / 2 * 8));
  return j % 2 ? vget_high_s16(wide) : vget_low_s16(wide);
}
#define TYPES i8i8i32
#define KIT i8
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t u8_sum;
typedef int16_t u8_wide;
typedef uint8_t u8_left;
typedef int8_t u8_right;
typedef int32x4_t u8_vector;
typedef int16x4_t u8_operand;
#define u8_zero ZeroI32
#define u8_load LoadI32
#define u8_store StoreI32
#define u8_read_left i16_read_left
#define u8_read_right i8_read_right
#define u8_multiply_add vmlal_s16
#define u8_widen WidenUint8
#define TYPES u8i8i32
#define KIT u8
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
