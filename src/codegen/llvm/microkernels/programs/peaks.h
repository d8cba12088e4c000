// What a target's instructions can do at most, measured: the yardstick of mmt4d_benchmark.
#ifndef TEXLOOM_CODEGEN_LLVM_MICROKERNELS_PROGRAMS_PEAKS_H_
#define TEXLOOM_CODEGEN_LLVM_MICROKERNELS_PROGRAMS_PEAKS_H_

#include <stdint.h>

// Runs `repeats` rounds of the target's fastest multiply-add of these types, on registers alone.
// Returns the number of operations, two for each product, or 0 if peaks.c knows no such
// instruction.
typedef double (*mmt4d_peak)(const char* types, int64_t repeats);

#endif  // TEXLOOM_CODEGEN_LLVM_MICROKERNELS_PROGRAMS_PEAKS_H_
