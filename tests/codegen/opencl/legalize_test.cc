// Tests the rewrites together: what they refuse, what they keep, and how they interact.
#include "codegen/opencl/legalize.h"

#include <gtest/gtest.h>

#include "codegen/legalize/memory_reads.h"
#include "ir/verify/verify.h"
#include "support/check.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::Stmt;
using ir::Type;

// split_kernels refuses a texture that a kernel reads and writes, so the verifier reports it as an
// internal error.
TEST(Legalize, ReadingAndWritingATextureIsAnInternalError) {
  const ir::Buffer t = texture("t", kFloat32, 4, 4);
  const Expr zero = make_int(0);
  const Stmt body = make_texture_store(t, zero, zero, texel(t, zero, make_int(1)));
  EXPECT_THROW(legalize(TestKernel().program(body), {}), InternalError);
}

TEST(Legalize, WantsKernels) {
  const ir::Buffer b = global("b", kFloat32, 4);
  ir::Program program = TestKernel().program(put(b, make_int(0), at(b, 1)));
  const ir::Program legal = legalize(program, {});
  EXPECT_EQ(legal.stage, ir::ProgramStage::Legalized);
  EXPECT_THROW(legalize(legal, {}), InternalError);
}

// Parameters, axes and the launch plan stay the same.
TEST(Legalize, KeepsTheRestOfTheProgram) {
  TestKernel kernel;
  const Expr t = kernel.axis("threadIdx.x", 4);
  const ir::Buffer h = global("h", Type::f(16), 4);
  const ir::Program before = kernel.program(put(h, t, at(h, t) * at(h, 0)));
  const ir::Program after = legalize(before, {});
  EXPECT_TRUE(after.body.same_as(before.body));
  EXPECT_TRUE(after.kernels[0].params[0].buffer.same_as(h));
  EXPECT_TRUE(after.kernels[0].axes[0].var.same_as(t));
  EXPECT_FALSE(after.kernels[0].body.same_as(before.kernels[0].body));
}

// OpenCL C allows local memory declarations only in the outermost block.
TEST(Legalize, SharedArraysAreOutermost) {
  const ir::Buffer a = shared("a", kInt32, 4), y = global("y", kInt32, 4);
  const Expr zero = make_int(0), i = ir::make_var("i");
  const Stmt use = ir::make_seq({put(a, zero, make_int(1)), put(y, zero, at(a, 0))});
  const auto twice = [&](const Stmt& body) {
    return make_for(i, make_int(2), ir::LoopKind::Serial, body);
  };
  EXPECT_EQ(code(make_allocate(a, twice(use))),
            "__local int a[4];\n"
            "for (int i = 0; i < 2; ++i) {\n"
            "  a[0] = 1;\n"
            "  y[0] = a[0];\n"
            "}\n");
  EXPECT_THROW(legalize(TestKernel().program(twice(make_allocate(a, use))), {}), InternalError);
}

// Copies of a body share variables; in C each copy gets its own name.
TEST(Legalize, CopiesOfABody) {
  const ir::Buffer y = global("y", kInt32, 8), x = global("x", kInt32, 8),
                   l = local("l", kInt32, 4);
  const Expr v = ir::make_var("v");
  const Stmt body =
      make_let(v, at(x, 0), make_allocate(l, ir::make_seq({put(l, v, v), put(y, v, at(l, v))})));
  EXPECT_EQ(code(ir::make_seq({body, body})),
            "const int v = x[0];\n"
            "int l[4];\n"
            "l[v] = v;\n"
            "y[v] = l[v];\n"
            "const int v_1 = x[0];\n"
            "int l_1[4];\n"
            "l_1[v_1] = v_1;\n"
            "y[v_1] = l_1[v_1];\n");
}

// Variables of vectors that are split into lanes get names for each copy, too.
TEST(Legalize, CopiesOfSplitVectors) {
  const ir::Buffer y = global("y", kInt32, 8), x = global("x", kInt32, 16);
  const Expr v = ir::make_var("v", kInt32.with_lanes(5));
  const Stmt body = make_let(v, vector_at(x, make_int(0), 5), put(y, make_int(0), lane(v, 4)));
  const std::string text = code(ir::make_seq({body, body}));
  EXPECT_NE(text.find("y[0] = v_4;\n"), std::string::npos) << text;
  EXPECT_NE(text.find("y[0] = v_4_1;\n"), std::string::npos) << text;
}

// A variable lane of an int8 texel goes through three rewrites but is read once.
TEST(Legalize, RewritesMeet) {
  const ir::Buffer t = texture("t", Type::i(8), 4, 4), y = global("y", Type::i(8), 8);
  TestKernel kernel;
  const Expr i = kernel.axis("threadIdx.x", 4);
  EXPECT_EQ(
      code(kernel, put(y, i, make_lane(texel(t, i, i), i))),
      "const int threadIdx_x = (int)get_local_id(0);\n"
      "const char4 t_texel = convert_char4(read_imagei(t, tl_sampler, (int2)(threadIdx_x, "
      "threadIdx_x)));\n"
      "y[threadIdx_x] = (char)(threadIdx_x == 0 ? (int)t_texel.x : (int)(char)(threadIdx_x == "
      "1 ? (int)t_texel.y : (int)(char)(threadIdx_x == 2 ? (int)t_texel.z : "
      "(int)t_texel.w)));\n");
}

// The integer rewrites and the alignment of arrays use the ranges of loops and axes.
TEST(Legalize, KnowsRanges) {
  const ir::Buffer y = global("y", kInt32, 64), s = shared("s", kInt32, 64);
  TestKernel kernel;
  const Expr t = kernel.axis("threadIdx.x", 16);
  const Expr vector = vector_at(s, floordiv(t, 4) * 4, 4);
  EXPECT_EQ(code(kernel, make_allocate(s, put_vector(y, floormod(t, 3), vector))),
            "const int threadIdx_x = (int)get_local_id(0);\n"
            "__local int4 s[16];\n"
            "vstore4(s[threadIdx_x / 4], 0, y + threadIdx_x % 3);\n");
}

TEST(MemoryReads, OfABuffer) {
  const ir::Buffer x = global("x", kFloat32, 4), y = global("y", kFloat32, 4);
  EXPECT_TRUE(loads_from(ir::make_float(1) + at(x, 0), x));
  EXPECT_FALSE(loads_from(at(x, 0) + at(x, 1), y));
  EXPECT_TRUE(loads_from(at(x, make_cast(kInt32, at(y, 1))) + at(x, 1), y));
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
