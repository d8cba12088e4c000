// Measures every variant that this processor can run, on one thread:
//
//   mmt4d_benchmark [--k K] [--tiles N] [PART_OF_A_NAME...]
//
// A product has N x N tiles (4) and a depth of K (256), so that a common cache of the second level
// holds it. For each variant: the rate, as the median of several measurements; the *peak*, which is
// the rate of the target's own multiply-add instruction on registers alone, measured immediately
// before; and the best such peak of all targets for these types. An operation is a multiplication
// or an addition.
#include <time.h>

#include "codegen/llvm/microkernels/choose.h"
#include "codegen/llvm/microkernels/programs/elements.h"
#include "codegen/llvm/microkernels/programs/peaks.h"

#define SKIP(target)
#define DECLARE(target) double mmt4d_peak_##target(const char*, int64_t);
#define MMT4D_TARGET(target, architecture, features) \
  MMT4D_CHOOSE(MMT4D_THIS_##target, DECLARE, SKIP)(target)
#include "codegen/llvm/microkernels/variants.def"

static const struct {
  const char* target;
  const char* features;
  mmt4d_peak run;
} kPeaks[] = {
#define LIST(target, features) {#target, features, mmt4d_peak_##target},
#define SKIP_2(target, features)
#define MMT4D_TARGET(target, architecture, features) \
  MMT4D_CHOOSE(MMT4D_THIS_##target, LIST, SKIP_2)(target, features)
#include "codegen/llvm/microkernels/variants.def"
};
enum { kTargets = sizeof kPeaks / sizeof *kPeaks, kSamples = 9 };

// Time of this thread on a processor: other programs may share it.
static double Seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Something to measure: returns the operations of `repeats` rounds.
typedef double (*Work)(const void* context, int64_t repeats);

// The median rate in operations per second; each sample takes 5 ms or longer.
static double Rate(Work work, const void* context) {
  int64_t repeats = 1;
  for (;; repeats *= 2) {
    const double begin = Seconds();
    if (work(context, repeats) == 0) return 0;
    if (Seconds() - begin > 0.005) break;
  }
  double rates[kSamples];
  for (int i = 0; i < kSamples; ++i) {
    const double begin = Seconds();
    const double operations = work(context, repeats);
    rates[i] = operations / (Seconds() - begin);
  }
  qsort(rates, kSamples, sizeof *rates, Compare);
  return rates[kSamples / 2];
}

typedef struct {
  mmt4d_peak run;
  const char* types;
} PeakContext;

static double RunPeak(const void* context, int64_t repeats) {
  const PeakContext* peak = context;
  return peak->run(peak->types, repeats);
}

typedef struct {
  const mmt4d_variant* variant;
  mmt4d_arguments arguments;
} ProductContext;

static double RunProduct(const void* context, int64_t repeats) {
  const ProductContext* product = context;
  const mmt4d_variant* v = product->variant;
  const mmt4d_arguments* a = &product->arguments;
  for (int64_t i = 0; i < repeats; ++i) mmt4d(v, a);
  return 2.0 * (double)(repeats * a->m1 * v->m0 * a->n1 * v->n0 * a->k1 * v->k0);
}

static double MeasureProduct(const mmt4d_variant* v, int64_t k, int64_t tiles) {
  const Types types = TypesOf(v);
  ProductContext product = {v, {0}};
  mmt4d_arguments* a = &product.arguments;
  a->m1 = a->n1 = tiles;
  a->k1 = (k + v->k0 - 1) / v->k0;
  a->group = 32 / v->k0;
  a->left_stride = a->k1 * v->m0 * v->k0 * BitsOf(types.left) / 8;
  a->right_stride = a->k1 * v->n0 * v->k0 * BitsOf(types.right) / 8;
  a->scales_stride = (a->k1 + a->group - 1) / a->group * v->n0 * 4;
  a->tile_stride = v->m0 * v->n0 * BitsOf(types.sums) / 8;
  a->row_stride = tiles * a->tile_stride;
  // Zeros: for the instructions used here, time does not depend on values.
  enum { kLine = 64 };
  const int64_t sizes[] = {tiles * a->left_stride, tiles * a->right_stride,
                           tiles * a->scales_stride, tiles * a->row_stride};
  void* data[4];
  for (int i = 0; i < 4; ++i) {
    const size_t size = (size_t)(sizes[i] + kLine - 1) / kLine * kLine;
    data[i] = aligned_alloc(kLine, size);
    if (!data[i]) exit(2);
    memset(data[i], 0, size);
  }
  a->left = data[0], a->right = data[1], a->scales = data[2], a->sums = data[3];
  const double rate = Rate(RunProduct, &product);
  for (int i = 0; i < 4; ++i) free(data[i]);
  return rate;
}

static double BestPeak(const char* types) {
  double best = 0;
  for (int t = 0; t < kTargets; ++t) {
    if (!mmt4d_cpu_has(kPeaks[t].features)) continue;
    const double rate = Rate(RunPeak, &(PeakContext){kPeaks[t].run, types});
    if (rate > best) best = rate;
  }
  return best;
}

int main(int argc, char** argv) {
  int64_t k = 256, tiles = 4;
  int parts = 0;
  for (int i = 1; i < argc; ++i) {
    int64_t* number = strcmp(argv[i], "--k") == 0       ? &k
                      : strcmp(argv[i], "--tiles") == 0 ? &tiles
                                                        : NULL;
    if (number && i + 1 < argc) {
      *number = atoll(argv[++i]);
      if (*number > 0) continue;
    }
    if (number || argv[i][0] == '-') {
      printf("usage: mmt4d_benchmark [--k K] [--tiles N] [PART_OF_A_NAME...]\n");
      return strcmp(argv[i], "--help") == 0 ? 0 : 2;
    }
    argv[parts++] = argv[i];
  }

  printf("%-52s %10s %10s %8s %12s\n", "variant", "10^9 op/s", "peak", "of peak", "best peak");
  size_t count;
  const mmt4d_variant* variants = mmt4d_variants(&count);
  char types_of_best[32] = "";
  double best = 0;
  for (size_t i = 0; i < count; ++i) {
    const mmt4d_variant* v = &variants[i];
    int chosen = parts == 0;
    for (int j = 0; j < parts; ++j) chosen |= strstr(v->name, argv[j]) != NULL;
    if (!chosen) continue;
    char reason[256];
    const char* why_not = WhyNot(v, reason, sizeof reason);
    if (why_not) {
      printf("%-52s skipped: %s\n", v->name, why_not);
      continue;
    }
    if (strcmp(types_of_best, v->types) != 0) {
      snprintf(types_of_best, sizeof types_of_best, "%s", v->types);
      best = BestPeak(v->types);
    }
    double peak = 0;
    for (int t = 0; t < kTargets; ++t) {
      if (strcmp(kPeaks[t].target, v->target->name) != 0) continue;
      peak = Rate(RunPeak, &(PeakContext){kPeaks[t].run, v->types});
    }
    const double rate = MeasureProduct(v, k, tiles);
    printf("%-52s %10.1f ", v->name, rate * 1e-9);
    if (peak > 0) {
      printf("%10.1f %7.0f%% ", peak * 1e-9, 100 * rate / peak);
    } else {
      printf("%10s %8s ", "-", "-");
    }
    printf("%12.1f\n", best * 1e-9);
    fflush(stdout);
  }
  return 0;
}
