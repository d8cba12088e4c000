// Tests whether a call reads or writes each of its arrays.
#include "compile/array_accesses.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "compile/compile.h"
#include "ir/text/parse.h"
#include "lower/te_text.h"

namespace texloom::compile {
namespace {

using ir::Access;
using Accesses = std::vector<Access>;

// A is read by one kernel and written by the other; B holds partial results, which the second
// kernel reads again; C is only written, and nothing uses D.
constexpr std::string_view kKernels = R"(program main stage=kernels
  param A: global float32[8]
  param B: global float32[8]
  param C: global float32[8]
  param D: global float32[8]
  launch k0(A, B) grid=(8, 1, 1) block=(1, 1, 1)
  launch k1(B, A, C) grid=(8, 1, 1) block=(1, 1, 1)

kernel k0 grid=(8, 1, 1) block=(1, 1, 1)
  param A: read global float32[8]
  param B: write global float32[8]
  axis i = blockIdx.x < 8
  B[i] = A[i]

kernel k1 grid=(8, 1, 1) block=(1, 1, 1)
  param B: read_write global float32[8]
  param A: write global float32[8]
  param C: write global float32[8]
  axis i = blockIdx.x < 8
  B[i] = B[i] * 2.0
  A[i] = B[i]
  C[i] = B[i]
)";

Accesses accesses_of_kernels(const ComputedArrays& computed) {
  return array_accesses(ir::parse_program(kKernels, "kernels.tl", {}), computed);
}

// The accesses of all kernels count. An output that a later kernel reads is still only written: its
// contents before the call do not matter.
TEST(ArrayAccesses, JoinTheKernels) {
  EXPECT_EQ(accesses_of_kernels({false, true, true, false}),
            (Accesses{Access::ReadWrite, Access::Write, Access::Write, Access::Read}));
  EXPECT_EQ(accesses_of_kernels({true, false, true, true}),
            (Accesses{Access::Write, Access::ReadWrite, Access::Write, Access::Read}));
}

// Without a list of the arrays that a program computes, each array that a kernel reads is an input.
TEST(ArrayAccesses, ArraysAreInputsIfKernelsReadThem) {
  EXPECT_EQ(accesses_of_kernels(ComputedArrays(4)),
            (Accesses{Access::ReadWrite, Access::ReadWrite, Access::Write, Access::Read}));
}

// Inputs are placeholders, in the order of the arguments.
TEST(ArrayAccesses, TheScheduleSaysWhatIsComputed) {
  const lower::Lowering schedule = lower::parse_lowering(R"(program p stage=te target="opencl"
  param B
  param A

placeholder A: float32[8]

compute B(i < 8): float32 = A[i] + 1.0
  output
  bind i blockIdx.x
)",
                                                         "test.tl");
  const SourceProgram program{std::make_shared<const lower::Lowering>(schedule)};
  const lower::Lowering kernels = lower_to_kernels(program, {}, [] {});
  const ComputedArrays computed = computed_arrays(kernels);
  EXPECT_EQ(computed, (ComputedArrays{true, false}));
  EXPECT_EQ(array_accesses(kernels.program, computed), (Accesses{Access::Write, Access::Read}));
}

}  // namespace
}  // namespace texloom::compile
