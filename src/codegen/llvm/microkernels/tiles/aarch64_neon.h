// Registers of NEON, for the files of aarch64 targets.
#ifndef TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILES_AARCH64_NEON_H_
#define TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILES_AARCH64_NEON_H_

#include <arm_neon.h>

#include "codegen/llvm/microkernels/tile.h"

MMT4D_INLINE float32x4_t ZeroF32(void) { return vdupq_n_f32(0); }
MMT4D_INLINE float32x4_t LoadF32(const float* from) { return vld1q_f32(from); }
MMT4D_INLINE void StoreF32(float* to, float32x4_t v) { vst1q_f32(to, v); }
MMT4D_INLINE float32x4_t MultiplyAddF32(float32x4_t sums, float32x4_t left, float32x4_t right) {
  return vfmaq_f32(sums, left, right);
}
// Where the rows fill a register, one is loaded for four of them, and `fmla` takes one lane of it.
MMT4D_INLINE float32x4_t SplatF32(const float* step, int row, int m0) {
  return vdupq_n_f32(m0 < 4 ? step[row] : vld1q_f32(step + row / 4 * 4)[row % 4]);
}

MMT4D_INLINE int32x4_t ZeroI32(void) { return vdupq_n_s32(0); }
MMT4D_INLINE int32x4_t LoadI32(const int32_t* from) { return vld1q_s32(from); }
MMT4D_INLINE void StoreI32(int32_t* to, int32x4_t v) { vst1q_s32(to, v); }
#endif  // TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILES_AARCH64_NEON_H_
