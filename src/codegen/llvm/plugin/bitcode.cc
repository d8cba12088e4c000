#include "codegen/llvm/plugin/bitcode.h"

#include <stdexcept>
#include <string>

// Puts libmmt4d_<file>.bc into the read-only data, between two symbols.
#define EMBED(file)                                                                     \
  __asm__(                                                                              \
      ".pushsection .rodata\n"                                                          \
      ".balign 16\n"                                                                    \
      "texloom_bitcode_" #file                                                          \
      ":\n"                                                                             \
      ".incbin \"" TEXLOOM_BITCODE_FOLDER "/libmmt4d_" #file                            \
      ".bc\"\n"                                                                         \
      "texloom_bitcode_end_" #file                                                      \
      ":\n"                                                                             \
      ".byte 0\n"                                                                       \
      ".popsection\n"                                                                   \
      ".hidden texloom_bitcode_" #file                                                  \
      "\n"                                                                              \
      ".globl texloom_bitcode_" #file                                                   \
      "\n"                                                                              \
      ".hidden texloom_bitcode_end_" #file                                              \
      "\n"                                                                              \
      ".globl texloom_bitcode_end_" #file "\n");                                        \
  extern "C" __attribute__((visibility("hidden"))) const char texloom_bitcode_##file[]; \
  extern "C" __attribute__((visibility("hidden"))) const char texloom_bitcode_end_##file[];

#define EMBED_any(target) \
  EMBED(x86_64_##target)  \
  EMBED(aarch64_##target)
#define EMBED_x86_64(target) EMBED(target)
#define EMBED_aarch64(target) EMBED(target)

#define MMT4D_TARGET(target, architecture, features) EMBED_##architecture(target)
#include "codegen/llvm/microkernels/variants.def"

namespace texloom::codegen::native {

namespace {

#define ROW(target, architecture, file) \
  {#target, #architecture, texloom_bitcode_##file, texloom_bitcode_end_##file},
#define ROW_any(target)                \
  ROW(target, x86_64, x86_64_##target) \
  ROW(target, aarch64, aarch64_##target)
#define ROW_x86_64(target) ROW(target, x86_64, target)
#define ROW_aarch64(target) ROW(target, aarch64, target)

const Bitcode kAll[] = {
#define MMT4D_TARGET(target, architecture, features) ROW_##architecture(target)
#include "codegen/llvm/microkernels/variants.def"
};

}  // namespace

const Bitcode& bitcode_of(std::string_view target, std::string_view architecture) {
  for (const Bitcode& each : kAll) {
    if (each.target == target && each.architecture == architecture) return each;
  }
  throw std::runtime_error("no micro-kernels of '" + std::string(target) + "' for " +
                           std::string(architecture));
}

}  // namespace texloom::codegen::native
