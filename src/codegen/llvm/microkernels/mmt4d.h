// Matrix products of tiled matrices (mmt4d), for the processor. The interface for applications.
//
//   left   [M1, K1, M0, K0]      a panel is [K1, M0, K0]
//   right  [N1, K1, N0, K0]      a panel is [K1, N0, K0]: the right side is transposed
//   sums   [M1, N1, M0, N0]      sums[m1, n1, m, n] += left[m1, k1, m, k] * right[n1, k1, n, k]
//
// A *variant* computes one tile [M0, N0] of sums from one panel of each side; its name says the
// tile, the types and the processor: mmt4d_6x16x1_f32f32f32_x86_64_avx2_fma. mmt4d() has the loops
// over tiles. docs/microkernels.md lists the variants.
//
// Types, as <left><right><sums>:
// * f32f32f32, f64f64f64: where the processor has a fused multiply-add, each sum is one chain of
//   them in the order of k, so these variants give the same bits.
// * f16f16f32, bf16bf16f32: IEEE half and bfloat16, summed in f32. Variants with dot-product
//   instructions round as those do.
// * i8i8i32, u8i8i32, i16i16i32: exact, modulo 2^32, for all values.
// * i8i4f32: the right side is 4-bit integers in two's complement with a scale for each group of k
//   and each column: sums += scale * (exact sum over the group). A column of a tile's K0 values is
//   K0/2 bytes: byte j has value j in its low half, value K0/2 + j in its high half.
//
// No memory is allocated, no state kept, and no function of the system called; all functions may be
// called by any number of threads. Data need the alignment of one element alone. All pointers are
// the caller's. Tiles that a matrix does not fill are padded by whoever packs it: with zeros along
// k; along m and n, with any values.
#ifndef TEXLOOM_CODEGEN_LLVM_MICROKERNELS_MMT4D_H_
#define TEXLOOM_CODEGEN_LLVM_MICROKERNELS_MMT4D_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A flag: add to the sums that are there. Without it, sums start from zero.
#define MMT4D_ACCUMULATE 1u

// Computes one tile. `k1` may be 0. `scales`, of i8i4f32 alone, is [ceil(k1 / group), N0]; a group
// is `group` >= 1 steps of K1; the last may be shorter.
typedef void (*mmt4d_tile)(void* sums, const void* left, const void* right, const float* scales,
                           int64_t k1, int64_t group, uint32_t flags);

// What a group of variants is compiled for.
typedef struct mmt4d_target {
  const char* name;
  const char* architecture;  // "any", "x86_64" or "aarch64"
  const char* features;      // as LLVM names them, with commas: "avx2,fma"; "" needs none
} mmt4d_target;

typedef struct mmt4d_variant {
  const char* name;
  const char* types;
  int32_t m0, n0, k0;
  const mmt4d_target* target;
  mmt4d_tile tile;
} mmt4d_variant;

// Strides are in bytes, so that they mean the same for all types; a panel or tile itself has no
// gaps.
typedef struct mmt4d_arguments {
  const void* left;
  const void* right;
  const float* scales;  // of i8i4f32: for each panel of the right side; otherwise null
  void* sums;
  int64_t m1, n1, k1;
  int64_t left_stride;    // between panels
  int64_t right_stride;   // between panels
  int64_t scales_stride;  // between those of panels
  int64_t row_stride;     // of sums: between rows of tiles
  int64_t tile_stride;    // of sums: between tiles of a row
  int64_t group;          // of i8i4f32: the steps of K1 of a group
  uint32_t flags;
} mmt4d_arguments;

// Returns the variants of this library: those of its architecture, whatever the features. The
// pointer stays valid.
const mmt4d_variant* mmt4d_variants(size_t* count);

// Computes all tiles, row by row. Whoever needs blocks for the caches, or threads, calls it for
// blocks, or calls `variant->tile` in loops of its own.
void mmt4d(const mmt4d_variant* variant, const mmt4d_arguments* arguments);

// Whether this processor, and the system, have the features of a target. The one function that asks
// the system. For AMX on Linux it also asks the kernel to let this process use the tile registers.
int mmt4d_cpu_has(const char* features);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TEXLOOM_CODEGEN_LLVM_MICROKERNELS_MMT4D_H_
