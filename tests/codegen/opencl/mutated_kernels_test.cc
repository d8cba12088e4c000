// A printer meets nothing that it cannot spell: the verifiers refuse that before.
// tests/fuzz/mutate_legalized.cc does the same as often as it is told to.
#include "tests/codegen/opencl/mutated_kernels.h"

#include <gtest/gtest.h>

namespace texloom::codegen::opencl::testing {
namespace {

TEST(MutatedKernels, ArePrintedOrRefused) {
  const MutationCounts counts = print_mutated(300, 1);
  // All of it happens.
  EXPECT_GT(counts.texts, 4);
  EXPECT_GT(counts.printed, 60);
  EXPECT_GT(counts.refused_by_ir, 3);
  EXPECT_GT(counts.refused_by_dialect, 3);
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
