// Random mutations of legalized programs: the verifiers refuse what the printer cannot spell.
#pragma once

#include <cstdint>

namespace texloom::codegen::opencl::testing {

struct MutationCounts {
  int texts = 0;    // the texts that were mutated
  int changes = 0;  // the mutations made until enough texts parsed
  int printed = 0;
  int refused_by_ir = 0;       // programs that broke a rule of stage Legalized
  int refused_by_dialect = 0;  // programs that broke only a rule of verify_dialect
};

// Mutates the texts of the corpus, legalized for OpenCL with and without half arithmetic, until
// `programs` mutated texts have parsed. Throws an InternalError with the text if the verifiers
// accept a program that cannot be printed.
MutationCounts print_mutated(int programs, uint64_t seed);

}  // namespace texloom::codegen::opencl::testing
