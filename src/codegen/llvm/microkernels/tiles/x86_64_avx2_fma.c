// x86-64 with AVX2, FMA and F16C. `vpmaddubsw` saturates, so 8-bit integers are widened to 16 bits.
#include <immintrin.h>

#include "codegen/llvm/microkernels/tile.h"

typedef float f32_sum, f32_left, f32_right;
typedef __m256 f32_vector, f32_operand;
MMT4D_INLINE __m256 f32_zero(void) { return _mm256_setzero_ps(); }
MMT4D_INLINE __m256 f32_load(const float* from) { return _mm256_loadu_ps(from); }
MMT4D_INLINE void f32_store(float* to, __m256 v) { _mm256_storeu_ps(to, v); }
MMT4D_INLINE __m256 f32_read_left(const float* step, int row, int m0) {
  return _mm256_set1_ps(step[row]);
}
MMT4D_INLINE __m256 f32_read_right(const float* step, int j) {
  return _mm256_loadu_ps(step + 8 * j);
}
MMT4D_INLINE __m256 f32_multiply_add(__m256 sums, __m256 left, __m256 right) {
  return _mm256_fmadd_ps(left, right, sums);
}
#define TYPES f32f32f32
#define KIT f32
#include "codegen/llvm/microkernels/rows.inc"

typedef double f64_sum, f64_left, f64_right;
typedef __m256d f64_vector, f64_operand;
MMT4D_INLINE __m256d f64_zero(void) { return _mm256_setzero_pd(); }
MMT4D_INLINE __m256d f64_load(const double* from) { return _mm256_loadu_pd(from); }
MMT4D_INLINE void f64_store(double* to, __m256d v) { _mm256_storeu_pd(to, v); }
MMT4D_INLINE __m256d f64_read_left(const double* step, int row, int m0) {
  return _mm256_set1_pd(step[row]);
}
MMT4D_INLINE __m256d f64_read_right(const double* step, int j) {
  return _mm256_loadu_pd(step + 4 * j);
}
MMT4D_INLINE __m256d f64_multiply_add(__m256d sums, __m256d left, __m256d right) {
  return _mm256_fmadd_pd(left, right, sums);
}
#define TYPES f64f64f64
#define KIT f64
#include "codegen/llvm/microkernels/rows.inc"

typedef float f16_sum, f16_wide;
typedef uint16_t f16_left, f16_right;
typedef __m256 f16_vector, f16_operand;
#define f16_zero f32_zero
#define f16_load f32_load
#define f16_store f32_store
#define f16_read_left f32_read_left
#define f16_multiply_add f32_multiply_add
MMT4D_INLINE __m256 f16_read_right(const uint16_t* step, int j) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(step + 8 * j)));
}
MMT4D_INLINE void f16_widen(float* to, const uint16_t* from, int count) {
  int i = 0;
  for (; i + 8 <= count; i += 8) f32_store(to + i, f16_read_right(from + i, 0));
  for (; i < count; ++i) to[i] = _cvtsh_ss(from[i]);
}
#define TYPES f16f16f32
#define KIT f16
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

typedef float bf16_sum, bf16_wide;
typedef uint16_t bf16_left, bf16_right;
typedef __m256 bf16_vector, bf16_operand;
#define bf16_zero f32_zero
#define bf16_load f32_load
#define bf16_store f32_store
#define bf16_read_left f32_read_left
#define bf16_multiply_add f32_multiply_add
MMT4D_INLINE __m256 bf16_read_right(const uint16_t* step, int j) {
  const __m128i narrow = _mm_loadu_si128((const __m128i*)(step + 8 * j));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(narrow), 16));
}
#define bf16_widen WidenBfloat
#define TYPES bf16bf16f32
#define KIT bf16
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

// Pairs of 16-bit integers: `vpmaddwd` multiplies and adds two of them.
typedef int32_t i16_sum;
typedef int16_t i16_left, i16_right;
typedef __m256i i16_vector, i16_operand;
MMT4D_INLINE __m256i i16_zero(void) { return _mm256_setzero_si256(); }
MMT4D_INLINE __m256i i16_load(const int32_t* from) {
  return _mm256_loadu_si256((const __m256i*)from);
}
MMT4D_INLINE void i16_store(int32_t* to, __m256i v) { _mm256_storeu_si256((__m256i*)to, v); }
MMT4D_INLINE __m256i i16_read_left(const int16_t* step, int row, int m0) {
  return _mm256_set1_epi32(LoadInt32(step + 2 * row));
}
MMT4D_INLINE __m256i i16_read_right(const int16_t* step, int j) {
  return _mm256_loadu_si256((const __m256i*)(step + 16 * j));
}
MMT4D_INLINE __m256i i16_multiply_add(__m256i sums, __m256i left, __m256i right) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(left, right));
}
#define TYPES i16i16i32
#define KIT i16
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i8_sum;
typedef int16_t i8_wide;
typedef int8_t i8_left, i8_right;
typedef __m256i i8_vector, i8_operand;
#define i8_zero i16_zero
#define i8_load i16_load
#define i8_store i16_store
#define i8_read_left i16_read_left
#define i8_multiply_add i16_multiply_add
MMT4D_INLINE __m256i i8_read_right(const int8_t* step, int j) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(step + 16 * j)));
}
#define i8_widen WidenInt8
#define TYPES i8i8i32
#define KIT i8
#define WIDEN
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t u8_sum;
typedef int16_t u8_wide;
typedef uint8_t u8_left;
typedef int8_t u8_right;
typedef __m256i u8_vector, u8_operand;
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

// `vpmaddubsw` is exact with 4-bit integers plus 8: two products of at most 15 * 128. The rest of
// the sum, 8 times the row's sum, is subtracted.
typedef __m256i i8i4_vector, i8i4_operand;
typedef __m256 i8i4_scaled;
#define i8i4_zero i16_zero
#define i8i4_scaled_zero f32_zero
#define i8i4_scaled_load f32_load
#define i8i4_scaled_store f32_store
MMT4D_INLINE void i8i4_unpack(__m256i* low, __m256i* high, const uint8_t* step, int j) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i both = _mm256_xor_si256(_mm256_loadu_si256((const __m256i*)(step + 32 * j)),
                                        _mm256_set1_epi8((char)0x88));
  *low = _mm256_and_si256(both, mask);
  *high = _mm256_and_si256(_mm256_srli_epi16(both, 4), mask);
}
MMT4D_INLINE __m256i i8i4_multiply_add(__m256i sums, const int8_t* row, __m256i low, __m256i high) {
  const __m256i products =
      _mm256_add_epi16(_mm256_maddubs_epi16(low, _mm256_set1_epi32(LoadInt32(row))),
                       _mm256_maddubs_epi16(high, _mm256_set1_epi32(LoadInt32(row + 4))));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
}
MMT4D_INLINE __m256i i8i4_row_terms(__m256i terms, const int8_t* step, int m0) {
  int64_t rows[4] = {0};
  __builtin_memcpy(rows, step, 8 * m0);
  const __m256i products =
      _mm256_maddubs_epi16(_mm256_set1_epi8(8), _mm256_loadu_si256((const __m256i*)rows));
  return _mm256_add_epi32(terms, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
}
#define i8i4_store_terms i16_store
MMT4D_INLINE __m256 i8i4_scale(__m256 scaled, __m256i sums, int32_t term, const float* scales) {
  const __m256i exact = _mm256_sub_epi32(sums, _mm256_set1_epi32(term));
  return _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact), _mm256_loadu_ps(scales), scaled);
}
#define TYPES i8i4f32
#define KIT i8i4
#define ROW_TERMS
#include "codegen/llvm/microkernels/groups.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
