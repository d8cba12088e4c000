// aarch64 with SVE, whose registers have a length that is known at run time: the columns of a tile
// are computed in as many rounds as that takes, one round with registers of 512 bits or longer.
#include <arm_sve.h>

#include "codegen/llvm/microkernels/tile.h"

// Registers of an unknown length have no arrays: a tile has up to 8 rows, each with a name.
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

// `lanes` is a predicate of 32-bit lanes.
#define START(r)                              \
  vector acc##r = ZERO();                     \
  if (r < m0 && (flags & MMT4D_ACCUMULATE)) { \
    acc##r = svld1(lanes, to + r * n0 + n);   \
  }
#define MULTIPLY_ADD(r) \
  if (r < m0) acc##r = STEP(acc##r, columns, step + r * k0);
#define FINISH(r) \
  if (r < m0) svst1(lanes, to + r * n0 + n, acc##r);

#define DEFINE_TILE(types, sum, element)                                         \
  MMT4D_INLINE void tile_##types(int m0, int n0, int k0, MMT4D_PARAMETERS) {     \
    sum* to = sums;                                                              \
    for (int n = 0; n < n0; n += (int)svcntw()) {                                \
      const svbool_t lanes = svwhilelt_b32(n, n0);                               \
      const element* step = left;                                                \
      const element* from_right = (const element*)right + n * k0;                \
      EACH_ROW(START)                                                            \
      for (int64_t k = 0; k < k1; ++k, step += m0 * k0, from_right += n0 * k0) { \
        const operand columns = READ(lanes, from_right);                         \
        EACH_ROW(MULTIPLY_ADD)                                                   \
      }                                                                          \
      EACH_ROW(FINISH)                                                           \
    }                                                                            \
  }

#define vector svfloat32_t
#define operand svfloat32_t
#define ZERO() svdup_f32(0)
#define READ(lanes, from) svld1(lanes, from)
#define STEP(acc, columns, row) svmla_x(lanes, acc, columns, *(row))
DEFINE_TILE(f32f32f32, float, float)
#undef vector
#undef operand
#undef ZERO
#undef READ
#undef STEP

// A 32-bit lane has a column's 4 bytes, which `sdot` multiplies by the row's.
#define vector svint32_t
#define operand svint8_t
#define ZERO() svdup_s32(0)
#define READ(lanes, from) svreinterpret_s8(svld1(lanes, (const int32_t*)(const void*)(from)))
#define STEP(acc, columns, row) svdot(acc, columns, svreinterpret_s8(svdup_s32(LoadInt32(row))))
DEFINE_TILE(i8i8i32, int32_t, int8_t)

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
