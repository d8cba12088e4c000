// Compiled for each target, as mmt4d_peak_<target>: which instructions there are follows from the
// compiler's macros.
#include "codegen/llvm/microkernels/programs/peaks.h"

#include <string.h>

#include "codegen/llvm/microkernels/tile.h"

#if defined(__x86_64__) && defined(__SSE4_2__)
#include <immintrin.h>
#define REGISTER "x"
#ifdef __AVX512F__
#undef REGISTER
#define REGISTER "v"
#endif
#elif defined(__aarch64__)
#include <arm_neon.h>
#define REGISTER "w"
#endif

// Enough sums to hide the latency of any instruction used here, and few enough for 16 registers.
enum { kSums = 12 };

// `operation` computes from `sum`, x and y; `count` is how many operations that is.
#define MEASURE(vector, operation, count)                                                   \
  do {                                                                                      \
    vector all[kSums], x = {0}, y = {0};                                                    \
    MMT4D_UNROLL                                                                            \
    for (int i = 0; i < kSums; ++i) all[i] = x;                                             \
    __asm__ volatile("" : "+" REGISTER(y));                                                 \
    for (int64_t r = 0; r < repeats; ++r) {                                                 \
      MMT4D_UNROLL                                                                          \
      for (int i = 0; i < kSums; ++i) {                                                     \
        /* Hides that x is the same each time, so that nothing is moved out of the loop. */ \
        __asm__ volatile("" : "+" REGISTER(x));                                             \
        vector sum = all[i];                                                                \
        all[i] = operation;                                                                 \
      }                                                                                     \
    }                                                                                       \
    MMT4D_UNROLL                                                                            \
    for (int i = 0; i < kSums; ++i) __asm__ volatile("" ::REGISTER(all[i]));                \
    return (double)repeats * kSums * (count);                                               \
  } while (0)

#define IF(name) if (strcmp(types, name) == 0)

double MMT4D_PEAK(const char* types, int64_t repeats);
double MMT4D_PEAK(const char* types, int64_t repeats) {
  // The instruction for the widest registers first.
#ifdef __AMX_TILE__
  // Tiles of 16 x 16 sums; four of them, as two would wait for one another.
  {
    struct {
      uint8_t palette, start_row, reserved[14];
      uint16_t bytes[16];
      uint8_t rows[16];
    } config;
    memset(&config, 0, sizeof config);
    config.palette = 1;
    for (int i = 0; i < 8; ++i) config.bytes[i] = 64, config.rows[i] = 16;
    const int is_i8 = strcmp(types, "i8i8i32") == 0 || strcmp(types, "u8i8i32") == 0;
    const int is_bf16 = strcmp(types, "bf16bf16f32") == 0;
    if (is_i8 || is_bf16) {
      __asm__ volatile("" ::: "memory");  // GCC: the instruction reads all of it
      _tile_loadconfig(&config);
      _tile_zero(4);
      _tile_zero(5);
      _tile_zero(6);
      _tile_zero(7);
      for (int64_t r = 0; r < repeats; ++r) {
        if (is_i8) {
          _tile_dpbssd(0, 4, 6);
          _tile_dpbssd(1, 4, 7);
          _tile_dpbssd(2, 5, 6);
          _tile_dpbssd(3, 5, 7);
        } else {
          _tile_dpbf16ps(0, 4, 6);
          _tile_dpbf16ps(1, 4, 7);
          _tile_dpbf16ps(2, 5, 6);
          _tile_dpbf16ps(3, 5, 7);
        }
      }
      _tile_release();
      return (double)repeats * 4 * 2 * 16 * 16 * (is_i8 ? 64 : 32);
    }
  }
#endif
#ifdef __AVX512BF16__
  IF("bf16bf16f32")
  MEASURE(__m512, _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y), 64);
#endif
#ifdef __AVX512VNNI__
  IF("u8i8i32") MEASURE(__m512i, _mm512_dpbusd_epi32(sum, x, y), 128);
  IF("i8i8i32") MEASURE(__m512i, _mm512_dpbusd_epi32(sum, x, y), 128);
  IF("i8i4f32") MEASURE(__m512i, _mm512_dpbusd_epi32(sum, x, y), 128);
  IF("i16i16i32") MEASURE(__m512i, _mm512_dpwssd_epi32(sum, x, y), 64);
#endif
#ifdef __AVX512BW__
  IF("i8i8i32") MEASURE(__m512i, _mm512_add_epi32(sum, _mm512_madd_epi16(x, y)), 64);
  IF("u8i8i32") MEASURE(__m512i, _mm512_add_epi32(sum, _mm512_madd_epi16(x, y)), 64);
  IF("i16i16i32") MEASURE(__m512i, _mm512_add_epi32(sum, _mm512_madd_epi16(x, y)), 64);
#endif
#ifdef __AVX512F__
  IF("f32f32f32") MEASURE(__m512, _mm512_fmadd_ps(x, y, sum), 32);
  IF("f16f16f32") MEASURE(__m512, _mm512_fmadd_ps(x, y, sum), 32);
  IF("bf16bf16f32") MEASURE(__m512, _mm512_fmadd_ps(x, y, sum), 32);
  IF("f64f64f64") MEASURE(__m512d, _mm512_fmadd_pd(x, y, sum), 16);
#endif
#ifdef __AVXVNNI__
  IF("u8i8i32") MEASURE(__m256i, _mm256_dpbusd_avx_epi32(sum, x, y), 64);
  IF("i8i8i32") MEASURE(__m256i, _mm256_dpbusd_avx_epi32(sum, x, y), 64);
  IF("i8i4f32") MEASURE(__m256i, _mm256_dpbusd_avx_epi32(sum, x, y), 64);
  IF("i16i16i32") MEASURE(__m256i, _mm256_dpwssd_avx_epi32(sum, x, y), 32);
#endif
#ifdef __AVX2__
  IF("i8i8i32") MEASURE(__m256i, _mm256_add_epi32(sum, _mm256_madd_epi16(x, y)), 32);
  IF("u8i8i32") MEASURE(__m256i, _mm256_add_epi32(sum, _mm256_madd_epi16(x, y)), 32);
  IF("i16i16i32") MEASURE(__m256i, _mm256_add_epi32(sum, _mm256_madd_epi16(x, y)), 32);
  IF("i8i4f32") MEASURE(__m256i, _mm256_add_epi16(sum, _mm256_maddubs_epi16(x, y)), 64);
#endif
#ifdef __FMA__
  IF("f32f32f32") MEASURE(__m256, _mm256_fmadd_ps(x, y, sum), 16);
  IF("f16f16f32") MEASURE(__m256, _mm256_fmadd_ps(x, y, sum), 16);
  IF("bf16bf16f32") MEASURE(__m256, _mm256_fmadd_ps(x, y, sum), 16);
  IF("f64f64f64") MEASURE(__m256d, _mm256_fmadd_pd(x, y, sum), 8);
#endif
#ifdef __SSE4_2__
  IF("f32f32f32") MEASURE(__m128, _mm_add_ps(sum, _mm_mul_ps(x, y)), 8);
  IF("bf16bf16f32") MEASURE(__m128, _mm_add_ps(sum, _mm_mul_ps(x, y)), 8);
  IF("f64f64f64") MEASURE(__m128d, _mm_add_pd(sum, _mm_mul_pd(x, y)), 4);
  IF("i8i8i32") MEASURE(__m128i, _mm_add_epi32(sum, _mm_madd_epi16(x, y)), 16);
  IF("u8i8i32") MEASURE(__m128i, _mm_add_epi32(sum, _mm_madd_epi16(x, y)), 16);
  IF("i16i16i32") MEASURE(__m128i, _mm_add_epi32(sum, _mm_madd_epi16(x, y)), 16);
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
  IF("i8i8i32") MEASURE(int32x4_t, vmmlaq_s32(sum, (int8x16_t)x, (int8x16_t)y), 64);
  IF("u8i8i32") MEASURE(int32x4_t, vusmmlaq_s32(sum, (uint8x16_t)x, (int8x16_t)y), 64);
#endif
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
  IF("bf16bf16f32")
  MEASURE(float32x4_t, vbfmmlaq_f32(sum, (bfloat16x8_t)x, (bfloat16x8_t)y), 32);
#endif
#ifdef __ARM_FEATURE_DOTPROD
  IF("i8i8i32") MEASURE(int32x4_t, vdotq_s32(sum, (int8x16_t)x, (int8x16_t)y), 32);
  IF("u8i8i32") MEASURE(int32x4_t, vdotq_s32(sum, (int8x16_t)x, (int8x16_t)y), 32);
  IF("i8i4f32") MEASURE(int32x4_t, vdotq_s32(sum, (int8x16_t)x, (int8x16_t)y), 32);
#endif
#ifdef __ARM_FEATURE_FP16_FML
  IF("f16f16f32") MEASURE(float32x4_t, vfmlalq_low_f16(sum, (float16x8_t)x, (float16x8_t)y), 8);
#endif
#ifdef __aarch64__
  IF("f32f32f32") MEASURE(float32x4_t, vfmaq_f32(sum, x, y), 8);
  IF("f16f16f32") MEASURE(float32x4_t, vfmaq_f32(sum, x, y), 8);
  IF("bf16bf16f32") MEASURE(float32x4_t, vfmaq_f32(sum, x, y), 8);
  IF("f64f64f64") MEASURE(float64x2_t, vfmaq_f64(sum, x, y), 4);
  IF("i8i8i32")
  MEASURE(int32x4_t, vmlal_s16(sum, vget_low_s16((int16x8_t)x), vget_low_s16((int16x8_t)y)), 8);
  IF("u8i8i32")
  MEASURE(int32x4_t, vmlal_s16(sum, vget_low_s16((int16x8_t)x), vget_low_s16((int16x8_t)y)), 8);
  IF("i16i16i32")
  MEASURE(int32x4_t, vmlal_s16(sum, vget_low_s16((int16x8_t)x), vget_low_s16((int16x8_t)y)), 8);
#endif
  (void)types;
  (void)repeats;
  return 0;
}
