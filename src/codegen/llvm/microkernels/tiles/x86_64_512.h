// Registers of 512 bits, for the files of targets that have AVX-512.
#ifndef TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILES_X86_64_512_H_
#define TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILES_X86_64_512_H_

#include <immintrin.h>

#include "codegen/llvm/microkernels/tile.h"

MMT4D_INLINE __m512 ZeroF32(void) { return _mm512_setzero_ps(); }
MMT4D_INLINE __m512 LoadF32(const float* from) { return _mm512_loadu_ps(from); }
MMT4D_INLINE void StoreF32(float* to, __m512 v) { _mm512_storeu_ps(to, v); }
MMT4D_INLINE __m512 SplatF32(const float* step, int row, int m0) {
  return _mm512_set1_ps(step[row]);
}
MMT4D_INLINE __m512 MultiplyAddF32(__m512 sums, __m512 left, __m512 right) {
  return _mm512_fmadd_ps(left, right, sums);
}

MMT4D_INLINE __m512i ZeroI32(void) { return _mm512_setzero_si512(); }
MMT4D_INLINE __m512i LoadI32(const void* from) { return _mm512_loadu_si512(from); }
MMT4D_INLINE void StoreI32(int32_t* to, __m512i v) { _mm512_storeu_si512(to, v); }
// 4 bytes, or 2 elements of 16 bits, in all lanes.
MMT4D_INLINE __m512i SplatI32(const void* from) { return _mm512_set1_epi32(LoadInt32(from)); }

#endif  // TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILES_X86_64_512_H_
