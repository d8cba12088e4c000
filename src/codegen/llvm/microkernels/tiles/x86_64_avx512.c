// x86-64 with AVX-512 (F, BW, VL). `vpmaddubsw` saturates, so 8-bit integers are widened to 16
// bits.
#include "codegen/llvm/microkernels/tiles/x86_64_512.h"

typedef float f32_sum, f32_left, f32_right;
typedef __m512 f32_vector, f32_operand;
#define f32_zero ZeroF32
#define f32_load LoadF32
#define f32_store StoreF32
#define f32_read_left SplatF32
#define f32_multiply_add MultiplyAddF32
MMT4D_INLINE __m512 f32_read_right(const float* step, int j) { return LoadF32(step + 16 * j); }
#define TYPES f32f32f32
#define KIT f32
#include "codegen/llvm/microkernels/rows.inc"

typedef double f64_sum, f64_left, f64_right;
typedef __m512d f64_vector, f64_operand;
MMT4D_INLINE __m512d f64_zero(void) { return _mm512_setzero_pd(); }
MMT4D_INLINE __m512d f64_load(const double* from) { return _mm512_loadu_pd(from); }
MMT4D_INLINE void f64_store(double* to, __m512d v) { _mm512_storeu_pd(to, v); }
MMT4D_INLINE __m512d f64_read_left(const double* step, int row, int m0) {
  return _mm512_set1_pd(step[row]);
}
MMT4D_INLINE __m512d f64_read_right(const double* step, int j) { return f64_load(step + 8 * j); }
MMT4D_INLINE __m512d f64_multiply_add(__m512d sums, __m512d left, __m512d right) {
  return _mm512_fmadd_pd(left, right, sums);
}
#define TYPES f64f64f64
#define KIT f64
#include "codegen/llvm/microkernels/rows.inc"

typedef float f16_sum, f16_wide;
typedef uint16_t f16_left, f16_right;
typedef __m512 f16_vector, f16_operand;
#define f16_zero ZeroF32
#define f16_load LoadF32
#define f16_store StoreF32
#define f16_read_left SplatF32
#define f16_multiply_add MultiplyAddF32
MMT4D_INLINE __m512 f16_read_right(const uint16_t* step, int j) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)(step + 16 * j)));
}
MMT4D_INLINE void f16_widen(float* to, const uint16_t* from, int count) {
  for (int i = 0; i < count; i += 16) {
    const __mmask16 there = count - i < 16 ? (__mmask16)((1u << (count - i)) - 1) : 0xffff;
    _mm512_mask_storeu_ps(to + i, there,
                          _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there, from + i)));
  }
}
#define TYPES f16f16f32
#define KIT f16
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

typedef float bf16_sum, bf16_wide;
typedef uint16_t bf16_left, bf16_right;
typedef __m512 bf16_vector, bf16_operand;
#define bf16_zero ZeroF32
#define bf16_load LoadF32
#define bf16_store StoreF32
#define bf16_read_left SplatF32
#define bf16_multiply_add MultiplyAddF32
#define bf16_widen WidenBfloat
MMT4D_INLINE __m512 bf16_read_right(const uint16_t* step, int j) {
  const __m256i narrow = _mm256_loadu_si256((const __m256i*)(step + 16 * j));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(narrow), 16));
}
#define TYPES bf16bf16f32
#define KIT bf16
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

// Pairs of 16-bit integers: `vpmaddwd` multiplies and adds two of them.
typedef int32_t i16_sum;
typedef int16_t i16_left, i16_right;
typedef __m512i i16_vector, i16_operand;
#define i16_zero ZeroI32
#define i16_load LoadI32
#define i16_store StoreI32
MMT4D_INLINE __m512i i16_read_left(const int16_t* step, int row, int m0) {
  return SplatI32(step + 2 * row);
}
MMT4D_INLINE __m512i i16_read_right(const int16_t* step, int j) { return LoadI32(step + 32 * j); }
MMT4D_INLINE __m512i i16_multiply_add(__m512i sums, __m512i left, __m512i right) {
  return _mm512_add_epi32(sums, _mm512_madd_epi16(left, right));
}
#define TYPES i16i16i32
#define KIT i16
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i8_sum;
typedef int16_t i8_wide;
typedef int8_t i8_left, i8_right;
typedef __m512i i8_vector, i8_operand;
#define i8_zero ZeroI32
#define i8_load LoadI32
#define i8_store StoreI32
#define i8_read_left i16_read_left
#define i8_multiply_add i16_multiply_add
#define i8_widen WidenInt8
MMT4D_INLINE __m512i i8_read_right(const int8_t* step, int j) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i*)(step + 32 * j)));
}
#define TYPES i8i8i32
#define KIT i8
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t u8_sum;
typedef int16_t u8_wide;
typedef uint8_t u8_left;
typedef int8_t u8_right;
typedef __m512i u8_vector, u8_operand;
#define u8_zero ZeroI32
#define u8_load LoadI32
#define u8_store StoreI32
#define u8_read_left i16_read_left
#define u8_read_right i8_read_right
#define u8_multiply_add i16_multiply_add
#define u8_widen WidenUint8
#define TYPES u8i8i32
#define KIT u8
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
