// Which features this processor has, and the system keeps the registers of.
#include <string.h>

#include "codegen/llvm/microkernels/mmt4d.h"

#if defined(__x86_64__)

#include <cpuid.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { kEax, kEbx, kEcx, kEdx };
enum { kNoState = 0, kAvx = 0x6, kAvx512 = 0xe6, kAmx = 0x60000 };  // of XCR0

// Where `cpuid` tells of a feature, and the state that the system must save for it.
typedef struct {
  const char* name;
  unsigned leaf, subleaf;
  int reg, bit;
  unsigned state;
} Feature;

static const Feature kFeatures[] = {
    {"sse4.2", 1, 0, kEcx, 20, kNoState},    {"fma", 1, 0, kEcx, 12, kAvx},
    {"f16c", 1, 0, kEcx, 29, kAvx},          {"avx2", 7, 0, kEbx, 5, kAvx},
    {"avx512f", 7, 0, kEbx, 16, kAvx512},    {"avx512bw", 7, 0, kEbx, 30, kAvx512},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512},   {"avx512vnni", 7, 0, kEcx, 11, kAvx512},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512}, {"avx512bf16", 7, 1, kEax, 5, kAvx512},
    {"avxvnni", 7, 1, kEax, 4, kAvx},        {"amx-tile", 7, 0, kEdx, 24, kAmx},
    {"amx-int8", 7, 0, kEdx, 25, kAmx},      {"amx-bf16", 7, 0, kEdx, 22, kAmx},
};

// Linux keeps the tile registers from a process until it asks for them.
static int MayUseTiles(void) {
#if defined(__linux__) && defined(SYS_arch_prctl)
  enum { kRequestPermission = 0x1023, kTileData = 18 };
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return 0;
#endif
}

static int HasFeature(const char* name, size_t length) {
  for (size_t i = 0; i < sizeof kFeatures / sizeof *kFeatures; ++i) {
    const Feature* f = &kFeatures[i];
    if (strlen(f->name) != length || strncmp(f->name, name, length) != 0) continue;
    unsigned r[4];
    if (!__get_cpuid_count(f->leaf, f->subleaf, &r[kEax], &r[kEbx], &r[kEcx], &r[kEdx])) return 0;
    if (!(r[f->reg] >> f->bit & 1)) return 0;
    if (f->state == kNoState) return 1;
    __get_cpuid(1, &r[kEax], &r[kEbx], &r[kEcx], &r[kEdx]);
    if (!(r[kEcx] >> 27 & 1)) return 0;  // the system does not use XSAVE
    unsigned enabled, high;
    __asm__ volatile("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    if ((enabled & f->state) != f->state) return 0;
    return f->state != kAmx || MayUseTiles();
  }
  return 0;
}

#elif defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

static int HasFeature(const char* name, size_t length) {
  // Linux's bits of AT_HWCAP and AT_HWCAP2.
  static const struct {
    const char* name;
    unsigned long type;
    int bit;
  } kFeatures[] = {
      {"neon", AT_HWCAP, 1},   {"fullfp16", AT_HWCAP, 10}, {"dotprod", AT_HWCAP, 20},
      {"sve", AT_HWCAP, 22},   {"fp16fml", AT_HWCAP, 23},  {"i8mm", AT_HWCAP2, 13},
      {"bf16", AT_HWCAP2, 14},
  };
  for (size_t i = 0; i < sizeof kFeatures / sizeof *kFeatures; ++i) {
    if (strlen(kFeatures[i].name) != length) continue;
    if (strncmp(kFeatures[i].name, name, length) != 0) continue;
    return (int)(getauxval(kFeatures[i].type) >> kFeatures[i].bit & 1);
  }
  return 0;
}

#else

// Elsewhere nothing is known of the processor: what every one of the architecture has, no more.
static int HasFeature(const char* name, size_t length) {
#ifdef __aarch64__
  return length == 4 && strncmp(name, "neon", length) == 0;
#else
  (void)name;
  return length == 0;
#endif
}

#endif

int mmt4d_cpu_has(const char* features) {
  while (*features) {
    const size_t length = strcspn(features, ",");
    if (!HasFeature(features, length)) return 0;
    features += length;
    features += *features == ',';
  }
  return 1;
}
