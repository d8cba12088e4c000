// x86-64 with AVX512-BF16: `vdpbf16ps` multiplies and adds two pairs. It takes subnormal inputs as
// zeros, and its sums are rounded to nearest, in an order of its own.
#include "codegen/llvm/microkernels/tiles/x86_64_512.h"

typedef float bf16_sum;
typedef uint16_t bf16_left, bf16_right;
typedef __m512 bf16_vector;
typedef __m512bh bf16_operand;
#define bf16_zero ZeroF32
#define bf16_load LoadF32
#define bf16_store StoreF32
#define bf16_multiply_add _mm512_dpbf16_ps
MMT4D_INLINE __m512bh bf16_read_left(const uint16_t* step, int row, int m0) {
  return (__m512bh)SplatI32(step + 2 * row);
}
MMT4D_INLINE __m512bh bf16_read_right(const uint16_t* step, int j) {
  return (__m512bh)LoadI32(step + 32 * j);
}
#define TYPES bf16bf16f32
#define KIT bf16
#include "codegen/llvm/microkernels/rows.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
