// Tests printing whole sources, and the spelling of each node.
#include "codegen/opencl/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/check.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::Stmt;
using ir::Type;

// One kernel with everything that a matrix product through textures needs.
TEST(Print, WholeSourceOfATexturedKernel) {
  TestKernel kernel;
  const Expr bx = kernel.axis("blockIdx.x", 4), tx = kernel.axis("threadIdx.x", 8);
  const ir::Buffer a = texture("A.texture", kFloat32, 8, 16), c = global("C", kFloat32, 128);
  const ir::Buffer acc = local("C.local", kFloat32, 4);
  const Expr k = ir::make_var("k");
  const Expr x = bx * 2 + floordiv(tx, 4);
  ir::Stmts body;
  body.push_back(put_vector(acc, ir::make_int(0), ir::make_const(0, kFloat32.with_lanes(4))));
  body.push_back(
      make_for(k, ir::make_int(16), ir::LoopKind::Serial,
               ir::make_seq({put(acc, ir::make_int(0), at(acc, 0) + lane(texel(a, x, k), 0)),
                             put(acc, ir::make_int(1), at(acc, 1) + lane(texel(a, x, k), 1))})));
  body.push_back(put_vector(c, bx * 32 + tx * 4, vector_at(acc, ir::make_int(0), 4)));
  EXPECT_EQ(source_of(kernel.program(make_allocate(acc, ir::make_seq(body)))),
            R"(#pragma OPENCL FP_CONTRACT OFF

__constant sampler_t tl_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void k(
    __read_only image2d_t A_texture,
    __global float* restrict C) {
  const int blockIdx_x = (int)get_group_id(0);
  const int threadIdx_x = (int)get_local_id(0);
  float C_local[4] __attribute__((aligned(16)));
  ((__private float4*)C_local)[0] = (float4)(0.0f);
  for (int k_1 = 0; k_1 < 16; ++k_1) {
    const float4 A_texture_texel = read_imagef(A_texture, tl_sampler, (int2)(blockIdx_x * 2 + threadIdx_x / 4, k_1));
    C_local[0] = C_local[0] + A_texture_texel.x;
    C_local[1] = C_local[1] + A_texture_texel.y;
  }
  ((__global float4*)C)[blockIdx_x * 8 + threadIdx_x] = ((__private float4*)C_local)[0];
}
)");
}

// Memory holds the bits of bfloat16; values are float32.
TEST(Print, BitsOfBfloat16) {
  const Type bfloat{ir::TypeCode::BFloat, 16, 1};
  const ir::Buffer x = global("x", bfloat, 64), f = global("f", kFloat32, 64);
  const Expr zero = ir::make_int(0), one = ir::make_int(1);
  const std::string source = source_of(TestKernel().program(ir::make_seq({
      put_vector(f, zero, make_cast(kFloat32.with_lanes(4), vector_at(x, one, 4))),
      put_vector(x, one, make_cast(bfloat.with_lanes(4), vector_at(f, zero, 4))),
      put(x, one, make_cast(bfloat, at(f, 0))),
  })));
  const std::string body = source.substr(source.find("__kernel"));
  EXPECT_EQ(body, R"(__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k(
    __global float* restrict f,
    __global ushort* restrict x) {
  ((__global float4*)f)[0] = tl_widen_bfloat4(vload4(0, x + 1));
  vstore4(tl_narrow_bfloat4(((__global float4*)f)[0]), 0, x + 1);
  x[1] = tl_narrow_bfloat(f[0]);
}
)");
  EXPECT_EQ(build_log(source), "");
}

// The qualifiers of buffers and textures follow their access.
TEST(Print, Parameters) {
  TestKernel kernel;
  kernel.name = "convert";
  kernel.scalars = {ir::make_var("X.origin.x"), ir::make_var("n", ir::kInt64)};
  const ir::Buffer read = global("r", kFloat32, 4), both = global("b", Type::i(8), 4),
                   write = global("w", Type::u(16), 4);
  const ir::Buffer from = texture("X", kFloat32, 4, 4), to = texture("Y", kFloat32, 4, 4);
  const Expr zero = ir::make_int(0);
  const Stmt body = ir::make_seq({
      put(both, zero, at(both, 1)),
      put(write, zero, make_cast(Type::u(16), at(read, 0))),
      make_texture_store(to, zero, zero, texel(from, kernel.scalars[0], zero)),
  });
  EXPECT_EQ(head(kernel, body), R"(#pragma OPENCL FP_CONTRACT OFF

__constant sampler_t tl_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void convert(
    __global char* restrict b,
    __global ushort* restrict w,
    __global const float* restrict r,
    __write_only image2d_t Y,
    __read_only image2d_t X,
    const int X_origin_x,
    const long n) )");
}

// Unused parts are omitted: sampler, prelude, extensions.
TEST(Print, PlainPreamble) {
  const ir::Buffer y = global("y", kFloat32, 4);
  EXPECT_EQ(head(TestKernel(), put(y, ir::make_int(0), ir::make_float(1))),
            "#pragma OPENCL FP_CONTRACT OFF\n\n"
            "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
            "void k(\n    __global float* restrict y) ");
}

TEST(Print, ThreadAxes) {
  TestKernel kernel;
  for (const char* tag : {"blockIdx.x", "blockIdx.y", "blockIdx.z"}) kernel.axis(tag, 2);
  kernel.axis("threadIdx.x", 3);
  kernel.axis("threadIdx.y", 4);
  kernel.axis("threadIdx.z", 5);
  const ir::Buffer y = global("y", kInt32, 4);
  Expr all = ir::make_int(0);
  for (const ir::ThreadAxis& axis : kernel.axes) all = all + axis.var;
  const Stmt body = put(y, ir::make_int(0), all);
  EXPECT_EQ(code(kernel, body),
            "const int blockIdx_x = (int)get_group_id(0);\n"
            "const int blockIdx_y = (int)get_group_id(1);\n"
            "const int blockIdx_z = (int)get_group_id(2);\n"
            "const int threadIdx_x = (int)get_local_id(0);\n"
            "const int threadIdx_y = (int)get_local_id(1);\n"
            "const int threadIdx_z = (int)get_local_id(2);\n"
            "y[0] = blockIdx_x + blockIdx_y + blockIdx_z + threadIdx_x + threadIdx_y + "
            "threadIdx_z;\n");
  EXPECT_NE(head(kernel, body).find("reqd_work_group_size(3, 4, 5)"), std::string::npos);
}

// An axis that nothing reads gets no variable, since compilers warn about unused variables.
TEST(Print, ThreadAxesThatNothingReads) {
  TestKernel kernel;
  kernel.axis("threadIdx.x", 3);
  const Expr row = kernel.axis("threadIdx.y", 4);
  const ir::Buffer y = global("y", kInt32, 4);
  EXPECT_EQ(code(kernel, put(y, row, ir::make_int(1))),
            "const int threadIdx_y = (int)get_local_id(1);\ny[threadIdx_y] = 1;\n");
}

bool uses_double(const Stmt& body) {
  return head(TestKernel(), body).find("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n") !=
         std::string::npos;
}

// The extension is needed wherever float64 occurs: a parameter, an array, a constant, a cast.
TEST(Print, DoubleNeedsItsExtension) {
  const Type f64 = Type::f(64);
  const ir::Buffer x = global("x", f64, 4), y = global("y", kFloat32, 4), l = local("l", f64, 4);
  const ir::Buffer i = global("i", kInt32, 4);
  const Expr zero = ir::make_int(0);
  const Expr infinite = ir::make_float(std::numeric_limits<double>::infinity(), f64);
  EXPECT_TRUE(uses_double(put(y, zero, make_cast(kFloat32, at(x, 0)))));
  EXPECT_TRUE(uses_double(make_allocate(l, put(y, zero, make_cast(kFloat32, at(l, 0))))));
  EXPECT_TRUE(uses_double(put(y, zero, make_cast(kFloat32, make_cast(f64, at(i, 0))))));
  EXPECT_TRUE(uses_double(
      put(y, zero,
          make_select(make_binary(ir::BinaryOp::Eq, infinite, infinite), at(y, 0), at(y, 1)))));
  EXPECT_FALSE(uses_double(put(y, zero, at(y, 1))));
  EXPECT_FALSE(uses_double(put(global("i", ir::kInt64, 4), zero, ir::make_int(1, ir::kInt64))));
}

TEST(Print, Statements) {
  const ir::Buffer y = global("y", kInt32, 64);
  const ir::Buffer s = shared("s", kInt32, 64);
  const Expr i = ir::make_var("i"), j = ir::make_var("j"), v = ir::make_var("v");
  const Stmt inner = make_for(
      j, ir::make_int(4), ir::LoopKind::Unrolled,
      make_let(v, i * j, ir::make_seq({put(s, j, v), ir::make_barrier(), put(y, i, at(s, j))})));
  const Stmt body = make_allocate(
      s, ir::make_seq({make_for(i, ir::make_int(8), ir::LoopKind::Serial,
                                ir::make_seq({make_if(i < ir::make_int(3), put(y, i, i)), inner})),
                       put(y, ir::make_int(9), ir::make_int(1))}));
  EXPECT_EQ(code(body),
            "__local int s[64];\n"
            "for (int i = 0; i < 8; ++i) {\n"
            "  if (i < 3) {\n"
            "    y[i] = i;\n"
            "  }\n"
            "  #pragma unroll\n"
            "  for (int j = 0; j < 4; ++j) {\n"
            "    const int v = i * j;\n"
            "    s[j] = v;\n"
            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    y[i] = s[j];\n"
            "  }\n"
            "  barrier(CLK_LOCAL_MEM_FENCE);\n"
            "}\n"
            "y[9] = 1;\n");
}

// If a guard encloses the whole kernel, threads that fail the guard return at once, except if other
// threads would wait for them at a barrier.
TEST(Print, GuardOfTheWholeKernel) {
  const ir::Buffer y = global("y", kInt32, 64), l = local("l", kInt32, 4);
  const Expr n = ir::make_var("n"), j = ir::make_var("j");
  const auto guarded = [&](const Stmt& s) {
    return code(make_let(n, ir::make_int(2), make_if(n < ir::make_int(3), s)));
  };
  const Stmt one = put(y, ir::make_int(0), n);
  const Stmt loop = make_for(j, ir::make_int(8), ir::LoopKind::Serial,
                             ir::make_seq({put(l, j, n), put(y, j, at(l, j))}));
  EXPECT_EQ(guarded(one), "const int n = 2;\nif (n < 3) {\n  y[0] = n;\n}\n");
  EXPECT_EQ(guarded(make_allocate(l, make_if(n < ir::make_int(1), loop))),
            "const int n = 2;\n"
            "if (!(n < 3)) return;\n"
            "int l[4];\n"
            "if (!(n < 1)) return;\n"
            "for (int j = 0; j < 8; ++j) {\n"
            "  l[j] = n;\n"
            "  y[j] = l[j];\n"
            "}\n");
  EXPECT_EQ(guarded(ir::make_seq({one, ir::make_barrier(), one})),
            "const int n = 2;\n"
            "if (n < 3) {\n"
            "  y[0] = n;\n"
            "  barrier(CLK_LOCAL_MEM_FENCE);\n"
            "  y[0] = n;\n"
            "}\n");
}

// The device's compiler may unroll short loops, but not long ones.
TEST(Print, LongLoopsStayLoops) {
  const ir::Buffer y = global("y", kInt32, 64);
  const Expr i = ir::make_var("i");
  const auto loop_of = [&](int stores) {
    ir::Stmts body;
    for (int each = 0; each < stores; ++each) body.push_back(put(y, i, ir::make_int(each)));
    return code(make_for(i, ir::make_int(8), ir::LoopKind::Serial, ir::make_seq(body)));
  };
  EXPECT_TRUE(loop_of(31).starts_with("for (int i"));
  EXPECT_TRUE(loop_of(32).starts_with("#pragma unroll 1\nfor (int i"));
}

// Unrolling needs a known extent; otherwise Clang warns.
TEST(Print, LoopsOfSymbolicExtentAreNotUnrolled) {
  const ir::Buffer y = global("y", kInt32, 64);
  const Expr i = ir::make_var("i"), j = ir::make_var("j");
  const Stmt inner = make_for(j, i, ir::LoopKind::Unrolled, put(y, j, j));
  EXPECT_EQ(code(make_for(i, ir::make_int(8), ir::LoopKind::Serial, inner)),
            "for (int i = 0; i < 8; ++i) {\n"
            "  for (int j = 0; j < i; ++j) {\n"
            "    y[j] = j;\n"
            "  }\n"
            "}\n");
}

TEST(Print, LoopExtents) {
  const ir::Buffer y = global("y", ir::kInt64, 8), x = global("x", kInt32, 8);
  const Expr j = ir::make_var("j");
  EXPECT_EQ(code(make_for(j, at(x, 0) + 1, ir::LoopKind::Serial, put(x, j, j))),
            "for (int j = 0; j < (int)((uint)x[0] + 1u); ++j) {\n  x[j] = j;\n}\n");
  const Expr i = ir::make_var("i", ir::kInt64);
  EXPECT_EQ(code(make_for(i, ir::make_int(8, ir::kInt64), ir::LoopKind::Serial, put(y, i, i))),
            "for (long i = 0; i < 8L; ++i) {\n  y[i] = i;\n}\n");
}

class PrintExpressions : public ::testing::Test {
 protected:
  // The spelling of a float32 expression whose operands are loads of x.
  std::string spelled(const Expr& value) const {
    const std::string text = code(put(y, ir::make_int(0), value));
    return text.substr(7, text.size() - 9);
  }
  ir::Buffer x = global("x", kFloat32, 8), y = global("y", kFloat32, 8);
  Expr a = at(x, 0), b = at(x, 1), c = at(x, 2);
};

TEST_F(PrintExpressions, ParenthesesOnlyWhereNeeded) {
  EXPECT_EQ(spelled(a + b * c), "x[0] + x[1] * x[2]");
  EXPECT_EQ(spelled((a + b) * c), "(x[0] + x[1]) * x[2]");
  EXPECT_EQ(spelled(a - b - c), "x[0] - x[1] - x[2]");
  EXPECT_EQ(spelled(a - (b - c)), "x[0] - (x[1] - x[2])");
  EXPECT_EQ(spelled(a + (b + c)), "x[0] + (x[1] + x[2])");  // rounding is not associative
  EXPECT_EQ(spelled(a * ir::make_float(-2)), "x[0] * -2.0f");
}

TEST_F(PrintExpressions, ConditionsAndSelects) {
  EXPECT_EQ(spelled(make_select(a < b && b < c, a, b) + c),
            "(x[0] < x[1] && x[1] < x[2] ? x[0] : x[1]) + x[2]");
  EXPECT_EQ(spelled(make_select(make_not(a < b), a, make_select(b < c, b, c))),
            "!(x[0] < x[1]) ? x[0] : x[1] < x[2] ? x[1] : x[2]");
  const Expr chosen = make_select(a < b, b < c, c < a);
  EXPECT_EQ(spelled(make_select(chosen, a, b)),
            "(x[0] < x[1] ? x[1] < x[2] : x[2] < x[0]) ? x[0] : x[1]");
  EXPECT_EQ(spelled(make_select(make_binary(ir::BinaryOp::Or, a < b, b < c) && (c < a), a, b)),
            "(x[0] < x[1] || x[1] < x[2]) && x[2] < x[0] ? x[0] : x[1]");
  EXPECT_EQ(spelled(make_select(make_binary(ir::BinaryOp::Or, a < b && b < c, c < a), a, b)),
            "(x[0] < x[1] && x[1] < x[2]) || x[2] < x[0] ? x[0] : x[1]");
  EXPECT_EQ(spelled(make_select(a < b && b < c && c < a, a, b)),
            "x[0] < x[1] && x[1] < x[2] && x[2] < x[0] ? x[0] : x[1]");
  EXPECT_EQ(spelled(make_select(make_binary(ir::BinaryOp::Ne, a, b), a, b)),
            "x[0] != x[1] ? x[0] : x[1]");
  EXPECT_EQ(spelled(make_cast(kFloat32, make_not(a < b))), "(float)!(x[0] < x[1])");
}

TEST_F(PrintExpressions, FunctionsAndCasts) {
  EXPECT_EQ(spelled(make_fma(a, b, c)), "fma(x[0], x[1], x[2])");
  EXPECT_EQ(spelled(min(a, max(b, c))), "fmin(x[0], fmax(x[1], x[2]))");
  EXPECT_EQ(spelled(make_call(ir::Intrinsic::Power, {a, b})), "pow(x[0], x[1])");
  EXPECT_EQ(spelled(make_call(ir::Intrinsic::Abs, {a})), "fabs(x[0])");
  EXPECT_EQ(spelled(make_call(ir::Intrinsic::Ldexp, {a, b})), "ldexp(x[0], convert_int_sat(x[1]))");
  const Expr scaled = make_call(ir::Intrinsic::Ldexp, {make_broadcast(a, 4), make_broadcast(b, 4)});
  EXPECT_EQ(spelled(lane(scaled, 1)), "ldexp((float4)(x[0]), convert_int4_sat((float4)(x[1]))).y");
  EXPECT_EQ(spelled(make_call(ir::Intrinsic::Nearbyint, {a + b})), "rint(x[0] + x[1])");
  EXPECT_EQ(spelled(make_cast(kFloat32, make_cast(kInt32, a + b))), "(float)(int)(x[0] + x[1])");
  const Expr four = make_broadcast(a, 4) + ir::make_pack({a, b, c, a});
  EXPECT_EQ(spelled(lane(four, 2)), "((float4)(x[0]) + (float4)(x[0], x[1], x[2], x[0])).z");
  const Expr converted = make_cast(kFloat32.with_lanes(4), make_cast(kInt32.with_lanes(4), four));
  EXPECT_EQ(spelled(lane(converted, 3)),
            "convert_float4(convert_int4((float4)(x[0]) + (float4)(x[0], x[1], x[2], x[0]))).w");
}

// A device's compiler cannot know that the number is NaN.
TEST_F(PrintExpressions, ConstantsThatAreNotFinite) {
  const double nan = std::nan("");
  EXPECT_EQ(spelled(a + ir::make_float(nan)), "x[0] + as_float(0x7fc00000u | get_work_dim())");
  const Expr wide = make_cast(Type::f(64), a) + ir::make_float(nan, Type::f(64));
  EXPECT_EQ(spelled(make_cast(kFloat32, wide)),
            "(float)((double)x[0] + (double)as_float(0x7fc00000u | get_work_dim()))");
  EXPECT_EQ(spelled(a + ir::make_float(-HUGE_VAL)), "x[0] + -INFINITY");
}

TEST_F(PrintExpressions, LanesOfVectorLiterals) {
  const Expr v = make_binary(ir::BinaryOp::Max, make_broadcast(a, 2), make_broadcast(b, 2));
  EXPECT_EQ(spelled(lane(v, 1)), "fmax((float2)(x[0]), (float2)(x[1])).y");
  const Expr eight = vector_at(x, ir::make_int(0), 8);
  EXPECT_EQ(spelled(lane(eight, 5)), "vload8(0, x).s5");
}

// Each integer operator is printed with the spacing and precedence of C.
TEST(Print, IntegerOperators) {
  const ir::Buffer x = global("x", Type::u(32), 8), y = global("y", Type::u(32), 8);
  const Expr a = at(x, 0), b = at(x, 1), c = at(x, 2);
  const auto spelled = [&](const Expr& value) {
    const std::string text = code(put(y, ir::make_int(0), value));
    return text.substr(7, text.size() - 9);
  };
  const auto op = [](ir::BinaryOp o, const Expr& l, const Expr& r) { return make_binary(o, l, r); };
  using ir::BinaryOp;
  EXPECT_EQ(spelled(op(BinaryOp::Div, a, op(BinaryOp::Mod, b, c))), "x[0] / (x[1] % x[2])");
  EXPECT_EQ(spelled(op(BinaryOp::Mod, op(BinaryOp::Div, a, b), c)), "x[0] / x[1] % x[2]");
  EXPECT_EQ(spelled(op(BinaryOp::Shl, op(BinaryOp::Add, a, b), c)), "(x[0] + x[1]) << x[2]");
  EXPECT_EQ(spelled(op(BinaryOp::Add, op(BinaryOp::Shr, a, b), c)), "(x[0] >> x[1]) + x[2]");
  EXPECT_EQ(spelled(op(BinaryOp::BitAnd, op(BinaryOp::BitOr, a, b), op(BinaryOp::BitXor, b, c))),
            "(x[0] | x[1]) & (x[1] ^ x[2])");
  EXPECT_EQ(spelled(op(BinaryOp::BitOr, op(BinaryOp::BitAnd, a, b), op(BinaryOp::BitXor, b, c))),
            "(x[0] & x[1]) | (x[1] ^ x[2])");
  EXPECT_EQ(spelled(op(BinaryOp::BitXor, op(BinaryOp::BitAnd, a, b), op(BinaryOp::Shl, b, c))),
            "(x[0] & x[1]) ^ (x[1] << x[2])");
  EXPECT_EQ(spelled(op(BinaryOp::BitOr, op(BinaryOp::BitOr, a, b), op(BinaryOp::BitOr, b, c))),
            "x[0] | x[1] | (x[1] | x[2])");
  EXPECT_EQ(spelled(op(BinaryOp::Mul, a, op(BinaryOp::Shl, b, c))), "x[0] * (x[1] << x[2])");
  EXPECT_EQ(spelled(op(BinaryOp::Shr, op(BinaryOp::Shr, a, b), c)), "x[0] >> x[1] >> x[2]");
  EXPECT_EQ(spelled(min(a, max(b, c))), "min(x[0], max(x[1], x[2]))");
  const auto if_true = [&](const Expr& condition) { return spelled(make_select(condition, a, b)); };
  EXPECT_EQ(if_true(op(BinaryOp::Eq, op(BinaryOp::BitAnd, a, b), c)),
            "(x[0] & x[1]) == x[2] ? x[0] : x[1]");
  EXPECT_EQ(if_true(op(BinaryOp::Gt, a, b)), "x[0] > x[1] ? x[0] : x[1]");
  EXPECT_EQ(if_true(op(BinaryOp::Ge, a, b)), "x[0] >= x[1] ? x[0] : x[1]");
  EXPECT_EQ(if_true(op(BinaryOp::Le, a, b)), "x[0] <= x[1] ? x[0] : x[1]");
  EXPECT_EQ(if_true(op(BinaryOp::Lt, op(BinaryOp::Shl, a, b), c)),
            "(x[0] << x[1]) < x[2] ? x[0] : x[1]");
  EXPECT_EQ(if_true(op(BinaryOp::Eq, op(BinaryOp::Eq, a, b), op(BinaryOp::Lt, a, b))),
            "(x[0] == x[1]) == (x[0] < x[1]) ? x[0] : x[1]");
}

TEST(Print, VectorsOfBuffers) {
  const ir::Buffer x = global("x", kFloat32, 64), y = global("y", kFloat32, 64);
  TestKernel kernel;
  const Expr i = kernel.axis("threadIdx.x", 4);
  const std::string axis = "const int threadIdx_x = (int)get_local_id(0);\n";
  EXPECT_EQ(code(kernel, put_vector(y, i * 4 + 1, vector_at(x, i, 2))),
            axis + "vstore2(vload2(0, x + threadIdx_x), 0, y + (threadIdx_x * 4 + 1));\n");
  EXPECT_EQ(code(kernel, put_vector(y, i * 16, vector_at(x, i * 4, 16))),
            axis + "vstore16(vload16(0, x + threadIdx_x * 4), 0, y + threadIdx_x * 16);\n");
  EXPECT_EQ(code(kernel, put_vector(y, ir::make_int(5), vector_at(x, ir::make_int(0), 3))),
            "vstore3(vload3(0, x), 0, y + 5);\n");
}

// Bools are bytes in memory, also in vectors.
TEST(Print, VectorsOfBools) {
  const ir::Buffer x = global("x", ir::kBool, 64);
  const ir::Buffer q = global("q", ir::kBool, 64);
  EXPECT_EQ(code(put_vector(q, ir::make_int(4), vector_at(x, ir::make_int(0), 4))),
            "((__global uchar4*)q)[1] = select((uchar4)((uchar)0), (uchar4)((uchar)1), "
            "((__global uchar4*)x)[0] != (uchar4)((uchar)0));\n");
}

TEST(Print, WideThreadAxes) {
  TestKernel kernel;
  kernel.axes.push_back({{false, 0}, ir::make_var("t", ir::kInt64), ir::make_int(4)});
  const ir::Buffer y = global("y", kFloat32, 64);
  EXPECT_EQ(code(kernel, put(y, kernel.axes[0].var, ir::make_float(1))),
            "const long t = (long)get_local_id(0);\ny[t] = 1.0f;\n");
}

TEST(Print, HalfMemory) {
  const ir::Buffer x = global("x", Type::f(16), 64), y = global("y", Type::f(16), 64);
  const Expr i = ir::make_int(3);
  EXPECT_EQ(code(put(y, i, at(x, 2))), "vstore_half_rte(vload_half(2, x), 3, y);\n");
  EXPECT_EQ(code(put_vector(y, i, vector_at(x, ir::make_int(0), 4))),
            "vstore_half4_rte(tl_widen_half4(((__global ushort4*)x)[0]), 0, y + 3);\n");
  EXPECT_EQ(code(put_vector(y, ir::make_int(8), vector_at(x, i, 4))),
            "((__global ushort4*)y)[2] = tl_narrow_half_float4(vload_half4(0, x + 3));\n");
  EXPECT_EQ(code(put_vector(y, ir::make_int(0), vector_at(x, ir::make_int(16), 16))),
            "vstore_half16_rte(vload_half16(0, x + 16), 0, y);\n");
}

// With half arithmetic, halves are read, computed and stored like other types.
TEST(Print, HalfValues) {
  ir::Target target;
  target.features.float16_arithmetic = true;
  const auto source = [&](const Stmt& body) {
    return compile::generate(TestKernel().program(body), target).kernels[0].code->bytes;
  };
  const auto line = [&](const Stmt& body) {
    const std::string text = source(body);
    const size_t begin = text.find("{\n") + 4;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const Type half = Type::f(16);
  const ir::Buffer x = global("x", half, 64), y = global("y", half, 64);
  const ir::Buffer f = global("f", kFloat32, 64);
  const Expr i = ir::make_int(3), zero = ir::make_int(0);
  EXPECT_TRUE(source(put(y, i, at(x, 2)))
                  .starts_with("#pragma OPENCL FP_CONTRACT OFF\n"
                               "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"));
  EXPECT_EQ(source(put(f, i, at(f, 2))).find("cl_khr_fp16"), std::string::npos);
  EXPECT_EQ(line(put(y, i, at(x, 2) * ir::make_float(0.5, half))), "y[3] = x[2] * 0.5h;");
  EXPECT_EQ(line(put_vector(y, i, vector_at(x, zero, 4))),
            "vstore4(((__global half4*)x)[0], 0, y + 3);");
  EXPECT_EQ(line(put_vector(y, zero, vector_at(x, i, 4))),
            "((__global half4*)y)[0] = vload4(0, x + 3);");
  EXPECT_EQ(line(put(f, i, make_cast(kFloat32, at(x, 2)))), "f[3] = (float)x[2];");
  EXPECT_EQ(line(put(f, i, make_cast(kFloat32, make_cast(half, at(f, 2))))),
            "f[3] = (float)(half)f[2];");
  EXPECT_EQ(line(put_vector(y, zero, make_cast(half.with_lanes(4), vector_at(f, zero, 4)))),
            "((__global half4*)y)[0] = convert_half4(((__global float4*)f)[0]);");
  const ir::Buffer s = texture("s", half, 4, 4), t = texture("t", half, 4, 4);
  EXPECT_EQ(line(make_texture_store(t, zero, zero, texel(s, zero, i))),
            "write_imageh(t, (int2)(0, 0), read_imageh(s, tl_sampler, (int2)(0, 3)));");
}

TEST(Print, TexelsOfAllKinds) {
  const ir::Buffer fx = texture("fx", kFloat32, 4, 4), fy = texture("fy", kFloat32, 4, 4);
  const ir::Buffer ix = texture("ix", kInt32, 4, 4), iy = texture("iy", kInt32, 4, 4);
  const ir::Buffer ux = texture("ux", Type::u(32), 4, 4), uy = texture("uy", Type::u(32), 4, 4);
  const Expr one = ir::make_int(1), two = ir::make_int(2);
  const auto copy = [&](const ir::Buffer& to, const ir::Buffer& from) {
    return code(make_texture_store(to, one, two, texel(from, two, one)));
  };
  EXPECT_EQ(copy(fy, fx),
            "write_imagef(fy, (int2)(1, 2), read_imagef(fx, tl_sampler, (int2)(2, 1)));\n");
  EXPECT_EQ(copy(iy, ix),
            "write_imagei(iy, (int2)(1, 2), read_imagei(ix, tl_sampler, (int2)(2, 1)));\n");
  EXPECT_EQ(copy(uy, ux),
            "write_imageui(uy, (int2)(1, 2), read_imageui(ux, tl_sampler, (int2)(2, 1)));\n");
}

// A node that legalization never leaves is an internal error.
TEST(Print, RefusesWhatIsNotLegal) {
  const ir::Buffer y = global("y", kInt32, 8);
  ir::Kernel kernel;
  kernel.body = put_vector(y, ir::make_int(0), ramp(ir::make_int(0), 4));
  EXPECT_THROW(print(kernel, {}, {}), InternalError);
  kernel.body = ir::make_launch(0);
  EXPECT_THROW(print(kernel, {}, {}), InternalError);
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
