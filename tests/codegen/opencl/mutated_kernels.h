// Legalized programs, changed at random: the verifiers refuse what the printer cannot spell.
#pragma once

#include <cstdint>

namespace texloom::codegen::opencl::testing {

struct MutationCounts {
  int texts = 0;    // that were changed, and changes of them
  int changes = 0;  // until there were enough programs
  int printed = 0;
  int refused_by_ir = 0;       // by the rules of stage Legalized
  int refused_by_dialect = 0;  // by verify_dialect alone
};

// Changes the text of the corpus, legalized for OpenCL with and without half arithmetic, until
// `programs` of the changed texts are syntactically programs. Throws an InternalError that shows
// the text when printing a program that the verifiers accept fails.
MutationCounts print_mutated(int programs, uint64_t seed);

}  // namespace texloom::codegen::opencl::testing
