// x86-64 with AVX-VNNI: `vpdpbusd` on 256 bits. i8 x i8 is corrected as in x86_64_avx512vnni.c.
#include <immintrin.h>

#include "codegen/llvm/microkernels/tile.h"

MMT4D_INLINE __m256i ZeroI32(void) { return _mm256_setzero_si256(); }
MMT4D_INLINE __m256i LoadI32(const void* from) { return _mm256_loadu_si256((const __m256i*)from); }
MMT4D_INLINE void StoreI32(int32_t* to, __m256i v) { _mm256_storeu_si256((__m256i*)to, v); }
MMT4D_INLINE __m256i SplatI32(const void* from) { return _mm256_set1_epi32(LoadInt32(from)); }

typedef int32_t u8_sum;
typedef uint8_t u8_left;
typedef int8_t u8_right;
typedef __m256i u8_vector, u8_operand;
#define u8_zero ZeroI32
#define u8_load LoadI32
#define u8_store StoreI32
#define u8_multiply_add _mm256_dpbusd_avx_epi32
MMT4D_INLINE __m256i u8_read_left(const uint8_t* step, int row, int m0) {
  return SplatI32(step + 4 * row);
}
MMT4D_INLINE __m256i u8_read_right(const int8_t* step, int j) { return LoadI32(step + 32 * j); }
#define TYPES u8i8i32
#define KIT u8
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i8_sum;
typedef int8_t i8_left, i8_right;
typedef __m256i i8_vector, i8_operand;
#define i8_zero ZeroI32
#define i8_load LoadI32
#define i8_store StoreI32
MMT4D_INLINE __m256i i8_read_left(const int8_t* step, int row, int m0) {
  return SplatI32(step + 4 * row);
}
MMT4D_INLINE __m256i i8_read_right(const int8_t* step, int j) {
  return _mm256_xor_si256(LoadI32(step + 32 * j), _mm256_set1_epi8((char)0x80));
}
MMT4D_INLINE __m256i i8_multiply_add(__m256i sums, __m256i left, __m256i right) {
  return _mm256_dpbusd_avx_epi32(sums, right, left);
}
MMT4D_INLINE __m256i i8_row_terms(__m256i terms, const int8_t* step, int m0) {
  int32_t rows[8] = {0};  // a register, as m0 is a constant
  __builtin_memcpy(rows, step, 4 * m0);
  return _mm256_dpbusd_avx_epi32(terms, _mm256_set1_epi8((char)0x80), LoadI32(rows));
}
MMT4D_INLINE __m256i i8_add_terms(__m256i sums, int32_t term) {
  return _mm256_sub_epi32(sums, _mm256_set1_epi32(term));
}
#define TYPES i8i8i32
#define KIT i8
#define ROW_TERMS
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i16_sum;
typedef int16_t i16_left, i16_right;
typedef __m256i i16_vector, i16_operand;
#define i16_zero ZeroI32
#define i16_load LoadI32
#define i16_store StoreI32
#define i16_multiply_add _mm256_dpwssd_avx_epi32
MMT4D_INLINE __m256i i16_read_left(const int16_t* step, int row, int m0) {
  return SplatI32(step + 2 * row);
}
MMT4D_INLINE __m256i i16_read_right(const int16_t* step, int j) { return LoadI32(step + 16 * j); }
#define TYPES i16i16i32
#define KIT i16
#include "codegen/llvm/microkernels/rows.inc"

// The 4-bit integers plus 8 are the unsigned operand; 8 times the row's sum is subtracted.
typedef __m256i i8i4_vector, i8i4_operand;
typedef __m256 i8i4_scaled;
#define i8i4_zero ZeroI32
#define i8i4_store_terms StoreI32
#define i8i4_scaled_zero _mm256_setzero_ps
#define i8i4_scaled_load _mm256_loadu_ps
#define i8i4_scaled_store _mm256_storeu_ps
MMT4D_INLINE void i8i4_unpack(__m256i* low, __m256i* high, const uint8_t* step, int j) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i both = _mm256_xor_si256(LoadI32(step + 32 * j), _mm256_set1_epi8((char)0x88));
  *low = _mm256_and_si256(both, mask);
  *high = _mm256_and_si256(_mm256_srli_epi16(both, 4), mask);
}
MMT4D_INLINE __m256i i8i4_multiply_add(__m256i sums, const int8_t* row, __m256i low, __m256i high) {
  const __m256i first = _mm256_dpbusd_avx_epi32(sums, low, SplatI32(row));
  return _mm256_dpbusd_avx_epi32(first, high, SplatI32(row + 4));
}
MMT4D_INLINE __m256i i8i4_row_terms(__m256i terms, const int8_t* step, int m0) {
  int64_t rows[4] = {0};
  __builtin_memcpy(rows, step, 8 * m0);
  return _mm256_dpbusd_avx_epi32(terms, _mm256_set1_epi8(8), LoadI32(rows));
}
MMT4D_INLINE __m256 i8i4_scale(__m256 scaled, __m256i sums, int32_t term, const float* scales) {
  const __m256i exact = _mm256_sub_epi32(sums, _mm256_set1_epi32(term));
  return _mm256_add_ps(scaled, _mm256_mul_ps(_mm256_cvtepi32_ps(exact), _mm256_loadu_ps(scales)));
}
#define TYPES i8i4f32
#define KIT i8i4
#define ROW_TERMS
#include "codegen/llvm/microkernels/groups.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
