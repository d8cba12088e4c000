// x86-64 with AMX: tile registers of 16 rows of 64 bytes. Each is 4 bytes of K wide, or 2 bfloat16,
// so one function serves all types.
//
// An instruction multiplies a tile of the left side, [M0, 16 steps], by one of the right side,
// [16 steps, 16 columns]. The right panel's layout [K1, N0, K0] is what it takes. The left panel's
// [K1, M0, K0] is not: it is transposed in vector registers, 16 steps at a time, which takes about
// as long as the four instructions that use the result.
//
// The process must have the system's permission to use tiles (mmt4d_cpu_has asks for it). The
// tiles' configuration is set at the beginning, and released at the end.
#include "codegen/llvm/microkernels/tiles/x86_64_512.h"

enum { kSteps = 16, kWords = 16, kTilesAcross = 4, kColumns = kTilesAcross * kWords };

// GCC's tile instructions do not tell the compiler which memory they read.
#ifdef __clang__
#define KEEP_STORES()
#else
#define KEEP_STORES() __asm__ volatile("" ::: "memory")
#endif

// What `ldtilecfg` reads.
typedef struct {
  uint8_t palette, start_row, reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} Configuration;

// to[i] = the 16 words of row i, from[0..15][i].
MMT4D_INLINE void Transpose16(__m512i* to, const __m512i* from) {
  __m512i a[16], b[16];
  MMT4D_UNROLL
  for (int i = 0; i < 8; ++i) {  // pairs of steps
    a[2 * i] = _mm512_unpacklo_epi32(from[2 * i], from[2 * i + 1]);
    a[2 * i + 1] = _mm512_unpackhi_epi32(from[2 * i], from[2 * i + 1]);
  }
  MMT4D_UNROLL
  for (int i = 0; i < 4; ++i) {  // 4 steps: b[4 * i + r] has rows r, 4 + r, 8 + r, 12 + r
    b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
  }
  MMT4D_UNROLL
  for (int r = 0; r < 4; ++r) {  // all steps of rows r, 4 + r, 8 + r, 12 + r
    const __m512i low = _mm512_shuffle_i32x4(b[r], b[4 + r], 0x44);
    const __m512i high = _mm512_shuffle_i32x4(b[r], b[4 + r], 0xee);
    const __m512i low_2 = _mm512_shuffle_i32x4(b[8 + r], b[12 + r], 0x44);
    const __m512i high_2 = _mm512_shuffle_i32x4(b[8 + r], b[12 + r], 0xee);
    to[r] = _mm512_shuffle_i32x4(low, low_2, 0x88);
    to[4 + r] = _mm512_shuffle_i32x4(low, low_2, 0xdd);
    to[8 + r] = _mm512_shuffle_i32x4(high, high_2, 0x88);
    to[12 + r] = _mm512_shuffle_i32x4(high, high_2, 0xdd);
  }
}

// Writes `steps` <= 16 steps of the left panel as rows; the words after them are zero.
MMT4D_INLINE void TransposeLeft(__m512i* to, const int32_t* from, int m0, int steps) {
  if (m0 == 16) {
    __m512i rows[kSteps];
    MMT4D_UNROLL
    for (int k = 0; k < kSteps; ++k) rows[k] = k < steps ? LoadI32(from + k * 16) : ZeroI32();
    Transpose16(to, rows);
    return;
  }
  const __mmask16 there = (__mmask16)((1u << steps) - 1);
  const __m512i index =
      _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(m0));
  MMT4D_UNROLL
  for (int i = 0; i < m0; ++i) {
    to[i] = _mm512_mask_i32gather_epi32(ZeroI32(), there, index, from + i, 4);
  }
}

#define DEFINE_TILE(types, multiply_add)                                                       \
  MMT4D_INLINE void tile_##types(int m0, int n0, int k0, MMT4D_PARAMETERS) {                   \
    const int32_t *from_left = left, *from_right = right;                                      \
    int32_t* to = sums;                                                                        \
    Configuration configuration = {.palette = 1};                                              \
    MMT4D_UNROLL                                                                               \
    for (int i = 0; i < 7; ++i) {                                                              \
      configuration.bytes[i] = 64;                                                             \
      configuration.rows[i] = (uint8_t)(i <= 4 ? m0 : kSteps);                                 \
    }                                                                                          \
    KEEP_STORES();                                                                             \
    _tile_loadconfig(&configuration);                                                          \
    enum { kStride = kColumns * 4 };                                                           \
    if (flags & MMT4D_ACCUMULATE) {                                                            \
      _tile_loadd(0, to, kStride);                                                             \
      _tile_loadd(1, to + 16, kStride);                                                        \
      _tile_loadd(2, to + 32, kStride);                                                        \
      _tile_loadd(3, to + 48, kStride);                                                        \
    } else {                                                                                   \
      _tile_zero(0);                                                                           \
      _tile_zero(1);                                                                           \
      _tile_zero(2);                                                                           \
      _tile_zero(3);                                                                           \
    }                                                                                          \
    __m512i rows[kSteps];                                                                      \
    for (int64_t done = 0; done < k1; done += kSteps) {                                        \
      __m512i padded[kSteps * kTilesAcross];                                                   \
      const int32_t* columns = from_right;                                                     \
      if (k1 - done >= kSteps) {                                                               \
        TransposeLeft(rows, from_left, m0, kSteps);                                            \
      } else {                                                                                 \
        const int steps = (int)(k1 - done);                                                    \
        TransposeLeft(rows, from_left, m0, steps);                                             \
        for (int i = 0; i < kSteps * kTilesAcross; ++i) {                                      \
          padded[i] = i < steps * kTilesAcross ? LoadI32(from_right + i * kWords) : ZeroI32(); \
        }                                                                                      \
        columns = (const int32_t*)padded;                                                      \
      }                                                                                        \
      KEEP_STORES();                                                                           \
      _tile_loadd(4, rows, 64);                                                                \
      _tile_loadd(5, columns, kStride);                                                        \
      multiply_add(0, 4, 5);                                                                   \
      _tile_loadd(6, columns + 16, kStride);                                                   \
      multiply_add(1, 4, 6);                                                                   \
      _tile_loadd(5, columns + 32, kStride);                                                   \
      multiply_add(2, 4, 5);                                                                   \
      _tile_loadd(6, columns + 48, kStride);                                                   \
      multiply_add(3, 4, 6);                                                                   \
      from_left += kSteps * m0;                                                                \
      from_right += kSteps * kColumns;                                                         \
    }                                                                                          \
    _tile_stored(0, to, kStride);                                                              \
    _tile_stored(1, to + 16, kStride);                                                         \
    _tile_stored(2, to + 32, kStride);                                                         \
    _tile_stored(3, to + 48, kStride);                                                         \
    _tile_release();                                                                           \
  }

DEFINE_TILE(i8i8i32, _tile_dpbssd)
DEFINE_TILE(u8i8i32, _tile_dpbusd)
DEFINE_TILE(bf16bf16f32, _tile_dpbf16ps)

// The functions of the table.
#include "codegen/llvm/microkernels/instantiate.inc"
