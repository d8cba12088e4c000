// x86-64 with SSE4.2: products are rounded before they are added, as there is no fused
// multiply-add.
#include <nmmintrin.h>

#include "codegen/llvm/microkernels/tile.h"

typedef float f32_sum, f32_left, f32_right;
typedef __m128 f32_vector, f32_operand;
MMT4D_INLINE __m128 f32_zero(void) { return _mm_setzero_ps(); }
MMT4D_INLINE __m128 f32_load(const float* from) { return _mm_loadu_ps(from); }
MMT4D_INLINE void f32_store(float* to, __m128 v) { _mm_storeu_ps(to, v); }
MMT4D_INLINE __m128 f32_read_left(const float* step, int row, int m0) {
  return _mm_set1_ps(step[row]);
}
MMT4D_INLINE __m128 f32_read_right(const float* step, int j) { return _mm_loadu_ps(step + 4 * j); }
MMT4D_INLINE __m128 f32_multiply_add(__m128 sums, __m128 left, __m128 right) {
  return _mm_add_ps(sums, _mm_mul_ps(left, right));
}
#define TYPES f32f32f32
#define KIT f32
#include "codegen/llvm/microkernels/rows.inc"

typedef double f64_sum, f64_left, f64_right;
typedef __m128d f64_vector, f64_operand;
MMT4D_INLINE __m128d f64_zero(void) { return _mm_setzero_pd(); }
MMT4D_INLINE __m128d f64_load(const double* from) { return _mm_loadu_pd(from); }
MMT4D_INLINE void f64_store(double* to, __m128d v) { _mm_storeu_pd(to, v); }
MMT4D_INLINE __m128d f64_read_left(const double* step, int row, int m0) {
  return _mm_set1_pd(step[row]);
}
MMT4D_INLINE __m128d f64_read_right(const double* step, int j) {
  return _mm_loadu_pd(step + 2 * j);
}
MMT4D_INLINE __m128d f64_multiply_add(__m128d sums, __m128d left, __m128d right) {
  return _mm_add_pd(sums, _mm_mul_pd(left, right));
}
#define TYPES f64f64f64
#define KIT f64
#include "codegen/llvm/microkernels/rows.inc"

typedef float bf16_sum, bf16_wide;
typedef uint16_t bf16_left, bf16_right;
typedef __m128 bf16_vector, bf16_operand;
#define bf16_zero f32_zero
#define bf16_load f32_load
#define bf16_store f32_store
#define bf16_read_left f32_read_left
#define bf16_multiply_add f32_multiply_add
#define bf16_widen WidenBfloat
MMT4D_INLINE __m128 bf16_read_right(const uint16_t* step, int j) {
  const __m128i narrow = _mm_loadl_epi64((const __m128i*)(step + 4 * j));
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), narrow));
}
#define TYPES bf16bf16f32
#define KIT bf16
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

// Pairs of 16-bit integers: `pmaddwd` multiplies and adds two of them.
typedef int32_t i16_sum;
typedef int16_t i16_left, i16_right;
typedef __m128i i16_vector, i16_operand;
MMT4D_INLINE __m128i i16_zero(void) { return _mm_setzero_si128(); }
MMT4D_INLINE __m128i i16_load(const int32_t* from) { return _mm_loadu_si128((const __m128i*)from); }
MMT4D_INLINE void i16_store(int32_t* to, __m128i v) { _mm_storeu_si128((__m128i*)to, v); }
MMT4D_INLINE __m128i i16_read_left(const int16_t* step, int row, int m0) {
  return _mm_set1_epi32(LoadInt32(step + 2 * row));
}
MMT4D_INLINE __m128i i16_read_right(const int16_t* step, int j) {
  return _mm_loadu_si128((const __m128i*)(step + 8 * j));
}
MMT4D_INLINE __m128i i16_multiply_add(__m128i sums, __m128i left, __m128i right) {
  return _mm_add_epi32(sums, _mm_madd_epi16(left, right));
}
#define TYPES i16i16i32
#define KIT i16
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i8_sum;
typedef int16_t i8_wide;
typedef int8_t i8_left, i8_right;
typedef __m128i i8_vector, i8_operand;
#define i8_zero i16_zero
#define i8_load i16_load
#define i8_store i16_store
#define i8_read_left i16_read_left
#define i8_multiply_add i16_multiply_add
#define i8_widen WidenInt8
MMT4D_INLINE __m128i i8_read_right(const int8_t* step, int j) {
  return _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i*)(step + 8 * j)));
}
#define TYPES i8i8i32
#define KIT i8
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t u8_sum;
typedef int16_t u8_wide;
typedef uint8_t u8_left;
typedef int8_t u8_right;
typedef __m128i u8_vector, u8_operand;
#define u8_zero i16_zero
#define u8_load i16_load
#define u8_store i16_store
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
