// The verifiers refuse every program that the printer cannot spell. tests/fuzz/mutate_legalized.cc
// runs the same test for any number of programs.
#include "tests/codegen/opencl/mutated_kernels.h"

#include <gtest/gtest.h>

namespace texloom::codegen::opencl::testing {
namespace {

TEST(MutatedKernels, ArePrintedOrRefused) {
  const MutationCounts counts = print_mutated(400, 1);
  // All outcomes occur.
  EXPECT_GT(counts.texts, 4);
  EXPECT_GT(counts.printed, 60);
  EXPECT_GT(counts.refused_by_ir, 3);
  EXPECT_GT(counts.refused_by_dialect, 3);
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
