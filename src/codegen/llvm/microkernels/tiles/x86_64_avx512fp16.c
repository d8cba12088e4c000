// x86-64 with AVX512-FP16. Its multiply-adds sum in half precision, so they do not serve f16f16f32;
// `vcvtph2psx` with a broadcast does: it reads and converts one half for all lanes, so that the
// left side need not be converted in advance.
#include "codegen/llvm/microkernels/tiles/x86_64_512.h"

typedef float f16_sum;
typedef uint16_t f16_left, f16_right;
typedef __m512 f16_vector, f16_operand;
#define f16_zero ZeroF32
#define f16_load LoadF32
#define f16_store StoreF32
#define f16_multiply_add MultiplyAddF32
MMT4D_INLINE __m512 f16_read_left(const uint16_t* step, int row, int m0) {
  return _mm512_cvtxph_ps((__m256h)_mm256_set1_epi16((short)step[row]));
}
MMT4D_INLINE __m512 f16_read_right(const uint16_t* step, int j) {
  return _mm512_cvtxph_ps((__m256h)_mm256_loadu_si256((const __m256i*)(step + 16 * j)));
}
#define TYPES f16f16f32
#define KIT f16
#include "codegen/llvm/microkernels/rows.inc"

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
