// What the files of tiles/ share: the parameters of a tile function, and how loops become
// registers.
#ifndef TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILE_H_
#define TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILE_H_

#include "codegen/llvm/microkernels/mmt4d.h"

// A tile function tile_<types>(int m0, int n0, int k0, MMT4D_PARAMETERS) is inlined where its
// extents are constants. Loops over the tile are unrolled, and local arrays of vectors become
// registers.
#define MMT4D_INLINE static inline __attribute__((always_inline))
#define MMT4D_PARAMETERS                                                      \
  void *restrict sums, const void *restrict left, const void *restrict right, \
      const float *restrict scales, int64_t k1, int64_t group, uint32_t flags

#ifdef __clang__
#define MMT4D_UNROLL _Pragma("clang loop unroll(full)")
#define MMT4D_UNROLL_2 _Pragma("clang loop unroll_count(2)")
#else
#define MMT4D_UNROLL _Pragma("GCC unroll 64")
#define MMT4D_UNROLL_2 _Pragma("GCC unroll 2")
#endif

// Limits of a tile, for the sizes of local arrays.
enum { kMaxRows = 16, kMaxVectors = 4 };

#define MMT4D_JOIN_(a, b) a##_##b
#define MMT4D_JOIN(a, b) MMT4D_JOIN_(a, b)

// Reads an element of any alignment.
MMT4D_INLINE int32_t LoadInt32(const void* from) {
  int32_t value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

MMT4D_INLINE float LoadFloat32(const void* from) {
  float value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

MMT4D_INLINE float FloatOfBits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// Left sides for instructions that take wider elements.
MMT4D_INLINE void WidenInt8(int16_t* to, const int8_t* from, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

MMT4D_INLINE void WidenUint8(int16_t* to, const uint8_t* from, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

MMT4D_INLINE void WidenBfloat(float* to, const uint16_t* from, int count) {
  for (int i = 0; i < count; ++i) to[i] = FloatOfBits((uint32_t)from[i] << 16);
}

#endif  // TEXLOOM_CODEGEN_LLVM_MICROKERNELS_TILE_H_
