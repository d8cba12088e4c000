// Which features this processor has, and the system keeps the registers of. C11 and C++, so that
// the micro-kernels' library, which has no C++, shares it.
#ifndef TEXLOOM_SUPPORT_PROCESSOR_DETECT_H_
#define TEXLOOM_SUPPORT_PROCESSOR_DETECT_H_

#include <stddef.h>
#include <string.h>

// The architecture, as LLVM names it; "" for one that no code is compiled for.
#if defined(__x86_64__)
#define TEXLOOM_ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define TEXLOOM_ARCHITECTURE "aarch64"
#else
#define TEXLOOM_ARCHITECTURE ""
#endif

#if defined(__x86_64__)

#include <cpuid.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

static inline int texloom_processor_has(const char* name, size_t length) {
  enum { kEax, kEbx, kEcx, kEdx };
  enum { kNoState = 0, kAvx = 0x6, kAvx512 = 0xe6, kAmx = 0x60000 };  // of XCR0
  static const struct {
    const char* name;
    unsigned leaf, subleaf;
    int reg, bit;
    unsigned state;
  } kFeatures[] = {
#define TEXLOOM_X86_FEATURE(name, leaf, subleaf, reg, bit, state) \
  {name, leaf, subleaf, reg, bit, state},
#include "support/processor/features.def"
  };
  for (size_t i = 0; i < sizeof kFeatures / sizeof *kFeatures; ++i) {
    if (strlen(kFeatures[i].name) != length) continue;
    if (strncmp(kFeatures[i].name, name, length) != 0) continue;
    unsigned r[4];
    if (!__get_cpuid_count(kFeatures[i].leaf, kFeatures[i].subleaf, &r[kEax], &r[kEbx], &r[kEcx],
                           &r[kEdx]))
      return 0;
    if (!(r[kFeatures[i].reg] >> kFeatures[i].bit & 1)) return 0;
    if (kFeatures[i].state == kNoState) return 1;
    __get_cpuid(1, &r[kEax], &r[kEbx], &r[kEcx], &r[kEdx]);
    if (!(r[kEcx] >> 27 & 1)) return 0;  // the system does not use XSAVE
    unsigned enabled, high;
    __asm__ volatile("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    return (enabled & kFeatures[i].state) == kFeatures[i].state;
  }
  return 0;
}

// Asks for the tile registers (AMX), which Linux keeps from a process until it does.
static inline int texloom_request_tiles(void) {
#if defined(__linux__) && defined(SYS_arch_prctl)
  enum { kRequestPermission = 0x1023, kTileData = 18 };
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return 0;
#endif
}

#else

#if defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

static inline int texloom_processor_has(const char* name, size_t length) {
  static const struct {
    const char* name;
    unsigned long type;
    int bit;
  } kFeatures[] = {
#define TEXLOOM_AARCH64_FEATURE(name, type, bit) {name, type, bit},
#include "support/processor/features.def"
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
static inline int texloom_processor_has(const char* name, size_t length) {
#ifdef __aarch64__
  return length == 4 && strncmp(name, "neon", length) == 0;
#else
  (void)name;
  return length == 0;
#endif
}

#endif

static inline int texloom_request_tiles(void) { return 0; }

#endif

// Whether the name is one of a feature of tile registers.
static inline int texloom_is_tile_feature(const char* name, size_t length) {
  return length > 4 && strncmp(name, "amx-", 4) == 0;
}

#endif  // TEXLOOM_SUPPORT_PROCESSOR_DETECT_H_
