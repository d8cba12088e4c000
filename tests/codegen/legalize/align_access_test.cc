// Tests which vectors are accessed as vectors, and which through vloadN.
#include "codegen/legalize/align_access.h"

#include <gtest/gtest.h>

#include <numeric>

#include "codegen/opencl/opencl_dialect.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::Stmt;
using ir::Type;

class AlignAccess : public ::testing::Test {
 protected:
  // The index of a load from `array`, after the pass.
  static std::string index(const ir::Buffer& array, const Expr& base, int lanes) {
    const ir::Buffer y = global("y", array->type, 64);
    const Stmt body = put_vector(y, make_int(0), vector_at(array, base, lanes));
    const Expr value = as<ir::Store>(align_accesses(body, {}, opencl_dialect({})))->value;
    return to_string(as<ir::Load>(value)->indices[0]);
  }
  ir::Buffer s = shared("s", kFloat32, 256), l = local("l", kFloat32, 256);
  ir::Buffer g = global("g", kFloat32, 256);
  Expr i = ir::make_var("i"), j = ir::make_var("j");
};

TEST_F(AlignAccess, TakesOutTheNumberOfLanes) {
  EXPECT_EQ(index(s, i * 8 + j * 4 + 12, 4), "ramp((i * 2 + j + 3) * 4, 1, 4)");
  EXPECT_EQ(index(l, i * 8, 2), "ramp(i * 4 * 2, 1, 2)");
  EXPECT_EQ(index(s, make_int(8), 4), "ramp(8, 1, 4)");
}

TEST_F(AlignAccess, LeavesWhatMayBeUnaligned) {
  EXPECT_EQ(index(s, i * 8 + j * 2, 4), "ramp(i * 8 + j * 2, 1, 4)");
  EXPECT_EQ(index(s, i * 4 + 1, 4), "ramp(i * 4 + 1, 1, 4)");
  EXPECT_EQ(index(s, i, 2), "ramp(i, 1, 2)");
}

// Vectors of three lanes stay, since aligned they would occupy four elements. Vectors of 32 bytes
// stay, since they exceed the alignment of memory that threads share.
TEST_F(AlignAccess, LeavesOtherVectors) {
  EXPECT_EQ(index(g, i * 8 + 4, 8), "ramp(i * 8 + 4, 1, 8)");
  EXPECT_EQ(index(s, i * 6 + 3, 3), "ramp(i * 6 + 3, 1, 3)");
  EXPECT_EQ(index(s, i * 16 + 8, 8), "ramp(i * 16 + 8, 1, 8)");
  EXPECT_EQ(index(shared("d", Type::f(64), 64), i * 8 + 4, 4), "ramp(i * 8 + 4, 1, 4)");
  EXPECT_EQ(index(shared("d", Type::f(64), 64), i * 8 + 2, 2), "ramp((i * 4 + 1) * 2, 1, 2)");
  EXPECT_EQ(index(shared("b", Type::u(8), 64), i * 32 + 16, 16), "ramp((i * 2 + 1) * 16, 1, 16)");
  const Stmt scalar = put(g, i, at(s, i * 8 + 4));
  EXPECT_EQ(to_string(align_accesses(scalar, {}, opencl_dialect({}))), to_string(scalar));
}

// A thread's own array has the alignment of the vectors that access it.
TEST_F(AlignAccess, TakesWideVectorsOfOwnArrays) {
  EXPECT_EQ(index(l, i * 16 + 8, 8), "ramp((i * 2 + 1) * 8, 1, 8)");
  EXPECT_EQ(index(l, i * 32 + 16, 16), "ramp((i * 2 + 1) * 16, 1, 16)");
}

TEST_F(AlignAccess, Stores) {
  const Expr zero = ir::make_const(0, kFloat32.with_lanes(4));
  EXPECT_EQ(to_string(align_accesses(put_vector(s, i * 8 + 4, zero), {}, opencl_dialect({}))),
            "s[ramp((i * 2 + 1) * 4, 1, 4)] = x4(0.0)\n");
  EXPECT_EQ(to_string(align_accesses(put_vector(g, i * 8 + 4, zero), {}, opencl_dialect({}))),
            "g[ramp((i * 2 + 1) * 4, 1, 4)] = x4(0.0)\n");
}

std::string number(const ir::Buffer& buffer, const Expr& index) {
  const std::optional<Expr> found = vector_number(*buffer, index, opencl_dialect({}));
  return found ? to_string(*found) : "none";
}

TEST_F(AlignAccess, VectorNumbers) {
  EXPECT_EQ(number(s, ramp(i * 4, 4)), "i");
  EXPECT_EQ(number(l, ramp(i * 12, 4)), "i * 3");
  EXPECT_EQ(number(s, ramp(make_int(8), 4)), "2");
  EXPECT_EQ(number(s, ramp(make_int(10), 4)), "none");
  EXPECT_EQ(number(s, ramp(i * 6, 4)), "none");
  EXPECT_EQ(number(s, ramp(i * j, 4)), "none");
  EXPECT_EQ(number(s, ramp(i + 4, 4)), "none");
  EXPECT_EQ(number(s, ramp(i, 4)), "none");
  EXPECT_EQ(number(g, ramp(i * 4, 4)), "i");
  EXPECT_EQ(number(g, ramp(i * 8, 8)), "none");
  EXPECT_EQ(number(s, ramp(i * 3, 3)), "none");
  EXPECT_EQ(number(s, i * 4), "none");
  EXPECT_EQ(number(s, make_broadcast(i, 4)), "none");
}

// An array of vectors is allocated in whole vectors, even if its extent cuts off the last vector.
TEST_F(AlignAccess, ExtentsOfVectorArrays) {
  const ir::Buffer six = local("six", kFloat32, 6);
  const Expr k = ir::make_var("k");
  EXPECT_EQ(code(make_allocate(six, make_for(k, make_int(1), ir::LoopKind::Serial,
                                             put_vector(six, k * 4, vector_at(g, k * 4, 4))))),
            "float4 six[2];\n"
            "for (int k_1 = 0; k_1 < 1; ++k_1) {\n"
            "  six[0] = ((__global float4*)g)[0];\n"
            "}\n");
}

TEST_F(AlignAccess, SourceOfAlignedAndOtherArrays) {
  const Expr k = ir::make_var("k");
  const ir::Buffer plain = local("plain", kFloat32, 8);
  const Stmt body =
      make_for(k, make_int(7), ir::LoopKind::Serial,
               ir::make_seq({put_vector(s, k * 8 + 4, vector_at(s, k * 8, 4)),
                             put_vector(l, k * 2, vector_at(s, k + 1, 2)), put(plain, k, at(s, k)),
                             put_vector(plain, k, vector_at(plain, make_int(1), 2))}));
  EXPECT_EQ(code(make_allocate(s, make_allocate(plain, make_allocate(l, body)))),
            "__local float s[256] __attribute__((aligned(16)));\n"
            "float plain[8];\n"
            "float2 l[128];\n"
            "for (int k_1 = 0; k_1 < 7; ++k_1) {\n"
            "  ((__local float4*)s)[k_1 * 2 + 1] = ((__local float4*)s)[k_1 * 2];\n"
            "  l[k_1] = vload2(0, s + (k_1 + 1));\n"
            "  plain[k_1] = s[k_1];\n"
            "  vstore2(vload2(0, plain + 1), 0, plain + k_1);\n"
            "}\n");
}

// Run: a block passes aligned and unaligned vectors through shared memory.
TEST(AlignAccessRun, SharedArraysOfVectors) {
  constexpr int kThreads = 8;
  TestKernel kernel;
  const Expr t = kernel.axis("threadIdx.x", kThreads);
  const ir::Buffer in = global("in", kInt32, 64), out = global("out", kInt32, 64);
  const ir::Buffer s = shared("s", kInt32, 64), l = local("l", kInt32, 8);
  const Expr mirrored = (make_int(kThreads - 1) - t) * 4;
  const Stmt body = make_allocate(
      s, make_allocate(
             l, ir::make_seq({put_vector(s, t * 4, vector_at(in, t * 4, 4)), ir::make_barrier(),
                              put_vector(l, make_int(4), vector_at(s, mirrored, 4)),
                              put_vector(l, make_int(1), vector_at(l, make_int(5), 2)),
                              put_vector(out, t * 8, vector_at(l, make_int(4), 4)),
                              put_vector(out, t * 8 + 4, vector_at(s, make_int(1) + t, 2)),
                              put_vector(out, t * 8 + 6, vector_at(l, make_int(1), 2))})));
  std::vector<int32_t> input(64), expected(64);
  std::iota(input.begin(), input.end(), 0);
  for (int32_t thread = 0; thread < kThreads; ++thread) {
    int32_t* row = &expected[static_cast<size_t>(thread) * 8];
    for (int32_t k = 0; k < 4; ++k) row[k] = (kThreads - 1 - thread) * 4 + k;
    row[4] = 1 + thread;
    row[5] = 2 + thread;
    row[6] = row[1];
    row[7] = row[2];
  }
  const ir::Program program = kernel.program(body);
  std::vector<HostArray> arguments;
  for (const ir::KernelParam& p : program.kernels[0].params) {
    arguments.push_back(HostArray::of(p.buffer.same_as(in) ? input : std::vector<int32_t>(64)));
  }
  run(program, arguments);
  EXPECT_EQ(arguments[program.kernels[0].params[0].buffer.same_as(out) ? 0 : 1].as<int32_t>(),
            expected);
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
