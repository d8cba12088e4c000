// x86-64 with AVX-512-VNNI. `vpdpbusd` multiplies four unsigned by four signed bytes and adds.
//
// i8 x i8: the right side plus 128 is the unsigned operand, as one `xor` serves all rows. The
// result exceeds the sum by 128 times the row's sum of the left side, which one more `vpdpbusd` for
// each step computes for all rows of the tile. Packing has nothing to do for it.
#include "codegen/llvm/microkernels/tiles/x86_64_512.h"

typedef int32_t u8_sum;
typedef uint8_t u8_left;
typedef int8_t u8_right;
typedef __m512i u8_vector, u8_operand;
#define u8_zero ZeroI32
#define u8_load LoadI32
#define u8_store StoreI32
#define u8_multiply_add _mm512_dpbusd_epi32
MMT4D_INLINE __m512i u8_read_left(const uint8_t* step, int row, int m0) {
  return SplatI32(step + 4 * row);
}
MMT4D_INLINE __m512i u8_read_right(const int8_t* step, int j) { return LoadI32(step + 64 * j); }
#define TYPES u8i8i32
#define KIT u8
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i8_sum;
typedef int8_t i8_left, i8_right;
typedef __m512i i8_vector, i8_operand;
#define i8_zero ZeroI32
#define i8_load LoadI32
#define i8_store StoreI32
MMT4D_INLINE __m512i i8_read_left(const int8_t* step, int row, int m0) {
  return SplatI32(step + 4 * row);
}
MMT4D_INLINE __m512i i8_read_right(const int8_t* step, int j) {
  return _mm512_xor_si512(LoadI32(step + 64 * j), _mm512_set1_epi8((char)0x80));
}
MMT4D_INLINE __m512i i8_multiply_add(__m512i sums, __m512i left, __m512i right) {
  return _mm512_dpbusd_epi32(sums, right, left);
}
MMT4D_INLINE __m512i i8_row_terms(__m512i terms, const int8_t* step, int m0) {
  const __m512i rows = _mm512_maskz_loadu_epi32((__mmask16)((1u << m0) - 1), step);
  return _mm512_dpbusd_epi32(terms, _mm512_set1_epi8((char)0x80), rows);
}
MMT4D_INLINE __m512i i8_add_terms(__m512i sums, int32_t term) {
  return _mm512_sub_epi32(sums, _mm512_set1_epi32(term));
}
#define TYPES i8i8i32
#define KIT i8
#define ROW_TERMS
#include "codegen/llvm/microkernels/rows.inc"

typedef int32_t i16_sum;
typedef int16_t i16_left, i16_right;
typedef __m512i i16_vector, i16_operand;
#define i16_zero ZeroI32
#define i16_load LoadI32
#define i16_store StoreI32
#define i16_multiply_add _mm512_dpwssd_epi32
MMT4D_INLINE __m512i i16_read_left(const int16_t* step, int row, int m0) {
  return SplatI32(step + 2 * row);
}
MMT4D_INLINE __m512i i16_read_right(const int16_t* step, int j) { return LoadI32(step + 32 * j); }
#define TYPES i16i16i32
#define KIT i16
#include "codegen/llvm/microkernels/rows.inc"

// The 4-bit integers plus 8 are the unsigned operand; 8 times the row's sum is subtracted.
typedef __m512i i8i4_vector, i8i4_operand;
typedef __m512 i8i4_scaled;
#define i8i4_zero ZeroI32
#define i8i4_scaled_zero ZeroF32
#define i8i4_scaled_load LoadF32
#define i8i4_scaled_store StoreF32
#define i8i4_store_terms StoreI32
MMT4D_INLINE void i8i4_unpack(__m512i* low, __m512i* high, const uint8_t* step, int j) {
  const __m512i mask = _mm512_set1_epi8(15);
  const __m512i both = _mm512_xor_si512(LoadI32(step + 64 * j), _mm512_set1_epi8((char)0x88));
  *low = _mm512_and_si512(both, mask);
  *high = _mm512_and_si512(_mm512_srli_epi16(both, 4), mask);
}
MMT4D_INLINE __m512i i8i4_multiply_add(__m512i sums, const int8_t* row, __m512i low, __m512i high) {
  return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(sums, low, SplatI32(row)), high,
                             SplatI32(row + 4));
}
MMT4D_INLINE __m512i i8i4_row_terms(__m512i terms, const int8_t* step, int m0) {
  const __m512i rows = _mm512_maskz_loadu_epi64((__mmask8)((1u << m0) - 1), step);
  return _mm512_dpbusd_epi32(terms, _mm512_set1_epi8(8), rows);
}
MMT4D_INLINE __m512 i8i4_scale(__m512 scaled, __m512i sums, int32_t term, const float* scales) {
  const __m512i exact = _mm512_sub_epi32(sums, _mm512_set1_epi32(term));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(exact), LoadF32(scales), scaled);
}
#define TYPES i8i4f32
#define KIT i8i4
#define ROW_TERMS
#include "codegen/llvm/microkernels/groups.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
