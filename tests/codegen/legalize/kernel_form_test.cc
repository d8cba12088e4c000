// Tests the facts about arrays, loops and parameters that are derived for the printer.
#include "codegen/c/kernel_form.h"

#include <gtest/gtest.h>

#include <array>

#include "codegen/opencl/opencl_dialect.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::Stmt;

class KernelFormOf : public ::testing::Test {
 protected:
  static ir::Kernel kernel(const Stmt& body) {
    ir::Kernel k;
    k.body = body;
    return k;
  }
  ir::Buffer s = shared("s", kFloat32, 256), l = local("l", kFloat32, 256);
  ir::Buffer g = global("g", kFloat32, 256);
  Expr i = ir::make_var("i");
};

// Arrays whose accesses all have the same width.
TEST_F(KernelFormOf, ArraysOfVectors) {
  const auto zeros = [](int lanes) { return ir::make_const(0, kFloat32.with_lanes(lanes)); };
  const auto widths = [&](const Stmt& body) {
    const KernelForm form = form_of(kernel(body), opencl_dialect({}));
    const auto width = [&](const ir::Buffer& b) {
      const int lanes = form.array(b).lanes;
      return lanes == 1 ? 0 : lanes;
    };
    return std::array{width(s), width(l), width(g)};
  };
  using Widths = std::array<int, 3>;
  const Stmt four = put_vector(s, i * 4, zeros(4)), two = put_vector(s, i * 2, zeros(2));
  EXPECT_EQ(widths(four), (Widths{4, 0, 0}));
  EXPECT_EQ(widths(ir::make_seq({four, four, put_vector(l, i * 2, zeros(2))})), (Widths{4, 2, 0}));
  EXPECT_EQ(widths(ir::make_seq({four, two})), (Widths{0, 0, 0}));
  EXPECT_EQ(widths(ir::make_seq({four, put(s, i, ir::make_float(0))})), (Widths{0, 0, 0}));
  EXPECT_EQ(widths(ir::make_seq({four, put_vector(s, i, zeros(4))})), (Widths{0, 0, 0}));
  EXPECT_EQ(widths(put(s, i, at(s, i))), (Widths{0, 0, 0}));
  // Loads count, too, whether they are in values, conditions or indices.
  EXPECT_EQ(widths(put_vector(g, i * 4, vector_at(s, i * 4, 4))), (Widths{4, 0, 0}));
  EXPECT_EQ(widths(ir::make_seq({four, make_if(at(s, i) < at(l, i), four)})), (Widths{0, 0, 0}));
  EXPECT_EQ(widths(put(g, make_cast(kInt32, lane(vector_at(s, i * 4, 4), 1)), ir::make_float(0))),
            (Widths{4, 0, 0}));
  Expr sum = vector_at(s, i * 4, 4);
  for (int k = 0; k < 60; ++k) sum = sum + sum;
  EXPECT_EQ(widths(put_vector(l, i * 4, sum)), (Widths{4, 4, 0}));
}

// Vectors may be aligned in an array of elements, if the array is aligned.
TEST_F(KernelFormOf, AlignedArrays) {
  const Stmt one = put(s, i, ir::make_float(0));
  const Stmt four = put_vector(s, i * 4, ir::make_const(0, kFloat32.with_lanes(4)));
  EXPECT_EQ(form_of(kernel(one), opencl_dialect({})).array(s).aligned, 1);
  EXPECT_EQ(form_of(kernel(four), opencl_dialect({})).array(s).aligned, 1);
  EXPECT_EQ(form_of(kernel(ir::make_seq({one, four})), opencl_dialect({})).array(s).aligned, 4);
}

TEST_F(KernelFormOf, HintsOfLoops) {
  const auto hint = [&](ir::LoopKind kind, const Expr& extent, int stores) {
    const Stmt body = ir::make_seq(ir::Stmts(static_cast<size_t>(stores), put(s, i, make_int(0))));
    const Stmt loop = make_for(i, extent, kind, body);
    return form_of(kernel(loop), opencl_dialect({})).loops.at(loop.get());
  };
  using enum ir::LoopKind;
  const Expr n = ir::make_var("n");
  EXPECT_EQ(hint(Serial, make_int(8), 31), UnrollHint::None);
  EXPECT_EQ(hint(Serial, make_int(8), 32), UnrollHint::Leave);
  EXPECT_EQ(hint(Unrolled, make_int(8), 32), UnrollHint::Unroll);
  EXPECT_EQ(hint(Unrolled, n, 31), UnrollHint::None);
}

// Threads exchange values through a parameter that they write and read if they meet at a barrier.
TEST_F(KernelFormOf, ExchangedParameters) {
  const Stmt write = put(g, i, ir::make_float(0));
  const auto exchanged = [&](const Stmt& body, ir::Access access) {
    ir::Kernel k = kernel(body);
    k.params.push_back({g, access, {}});
    return form_of(k, opencl_dialect({})).exchanged.contains(g.get());
  };
  const Stmt meet = ir::make_seq({write, ir::make_barrier()});
  EXPECT_TRUE(exchanged(meet, ir::Access::ReadWrite));
  EXPECT_FALSE(exchanged(meet, ir::Access::Write));
  EXPECT_FALSE(exchanged(write, ir::Access::ReadWrite));
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
