#include <gtest/gtest.h>

#include <limits>

#include "support/check.h"
#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

TEST(Print, EveryExpression) {
  const Leaves l;
  for (const ExprSample& sample : expr_samples(l)) EXPECT_EQ(to_string(sample.e), sample.text);
}

TEST(Print, EveryStatement) {
  const Leaves l;
  for (const StmtSample& sample : stmt_samples(l)) EXPECT_EQ(to_string(sample.s), sample.text);
}

TEST(Print, Integers) {
  EXPECT_EQ(to_string(make_int(-5)), "-5");
  EXPECT_EQ(to_string(make_int(5, kInt64)), "int64(5)");
  EXPECT_EQ(to_string(make_int(200, Type::u(8))), "uint8(200)");
  EXPECT_EQ(to_string(make_bool(true)), "true");
  EXPECT_EQ(to_string(make_bool(false)), "false");
}

TEST(Print, Floats) {
  const double inf = std::numeric_limits<double>::infinity();
  const Type f64 = Type::f(64), half = Type::f(16);
  EXPECT_EQ(to_string(make_float(1)), "1.0");
  EXPECT_EQ(to_string(make_float(-3)), "-3.0");
  EXPECT_EQ(to_string(make_float(0.1)), "0.1");
  EXPECT_EQ(to_string(make_float(-0.0)), "-0.0");
  EXPECT_EQ(to_string(make_float(1e20)), "1e+20");
  EXPECT_EQ(to_string(make_float(1.5e-10)), "1.5e-10");
  EXPECT_EQ(to_string(make_float(inf)), "inf");
  EXPECT_EQ(to_string(make_float(-inf)), "-inf");
  EXPECT_EQ(to_string(make_float(std::numeric_limits<double>::quiet_NaN())), "nan");
  EXPECT_EQ(to_string(make_float(0.1, f64)), "float64(0.1)");
  EXPECT_EQ(to_string(make_float(static_cast<double>(0.1F), f64)), "float64(0.10000000149011612)");
  EXPECT_EQ(to_string(make_float(2, f64)), "float64(2.0)");
  EXPECT_EQ(to_string(make_float(0.5, half)), "float16(0.5)");
  EXPECT_EQ(to_string(make_float(inf, half)), "float16(inf)");
}

// Parentheses appear exactly where the tree needs them.
TEST(Print, Precedence) {
  const Leaves l;
  const Expr &i = l.i, &j = l.j, &n = l.n;
  const auto binary = [](BinaryOp op, const Expr& a, const Expr& b) {
    return to_string(make_binary(op, a, b));
  };
  EXPECT_EQ(to_string(i + j * n), "i + j * n");
  EXPECT_EQ(to_string((i + j) * n), "(i + j) * n");
  EXPECT_EQ(to_string(i * (j + n)), "i * (j + n)");
  EXPECT_EQ(to_string(i - j - n), "i - j - n");
  EXPECT_EQ(to_string(i - (j - n)), "i - (j - n)");
  EXPECT_EQ(to_string(i + (j + n)), "i + (j + n)");
  EXPECT_EQ(to_string(i * (j * n)), "i * (j * n)");
  EXPECT_EQ(binary(BinaryOp::Div, i, j * n), "i / (j * n)");
  EXPECT_EQ(binary(BinaryOp::Shl, i + j, n), "i + j << n");
  EXPECT_EQ(binary(BinaryOp::Add, make_binary(BinaryOp::Shr, i, j), n), "(i >> j) + n");
  EXPECT_EQ(to_string(i + j < n), "i + j < n");
  EXPECT_EQ(to_string(make_binary(BinaryOp::Lt, make_binary(BinaryOp::BitAnd, i, j), n)),
            "(i & j) < n");
  EXPECT_EQ(binary(BinaryOp::BitAnd, make_binary(BinaryOp::Shl, i, j), n), "i << j & n");
  EXPECT_EQ(binary(BinaryOp::BitOr, make_binary(BinaryOp::BitXor, i, j), n), "i ^ j | n");
  EXPECT_EQ(binary(BinaryOp::BitXor, make_binary(BinaryOp::BitOr, i, j), n), "(i | j) ^ n");
  EXPECT_EQ(binary(BinaryOp::BitXor, make_binary(BinaryOp::BitAnd, i, j), n), "i & j ^ n");
  EXPECT_EQ(binary(BinaryOp::BitAnd, make_binary(BinaryOp::BitXor, i, j), n), "(i ^ j) & n");
  EXPECT_EQ(binary(BinaryOp::And, i < j, l.p), "i < j && p");
  const Expr either = make_binary(BinaryOp::Or, l.p, l.q);
  EXPECT_EQ(to_string(either && l.p), "(p || q) && p");
  EXPECT_EQ(binary(BinaryOp::Or, l.p && l.q, l.p), "p && q || p");
  EXPECT_EQ(binary(BinaryOp::Or, l.p, either), "p || (p || q)");
  EXPECT_EQ(binary(BinaryOp::Eq, l.p, make_binary(BinaryOp::BitOr, l.p, l.q)), "p == (p | q)");
  EXPECT_EQ(binary(BinaryOp::BitOr, make_binary(BinaryOp::Eq, l.p, l.q), l.p), "p == q | p");
  EXPECT_EQ(binary(BinaryOp::Eq, make_binary(BinaryOp::Ne, l.p, l.q), l.p), "p != q == p");
  EXPECT_EQ(binary(BinaryOp::Eq, l.p, make_binary(BinaryOp::Ge, i, j)), "p == (i >= j)");
  EXPECT_EQ(to_string(min(i + j, n) * i), "min(i + j, n) * i");
  EXPECT_EQ(to_string(floordiv(i, j + 1) + floormod(i, n)), "floordiv(i, j + 1) + floormod(i, n)");
  EXPECT_EQ(to_string(make_not(i < j)), "!(i < j)");
  EXPECT_EQ(to_string(make_not(make_not(l.p))), "!!p");
  EXPECT_EQ(to_string(make_lane(l.v + l.v, i)), "(v + v).lane[i]");
  EXPECT_EQ(to_string(make_lane(make_texture_load(l.t, i, j), n)),
            "texture2d.load(T, x=i, y=j: float32x4).lane[n]");
  EXPECT_EQ(to_string(make_select(i < j, i, j) + 1), "select(i < j, i, j) + 1");
}

TEST(Print, Reductions) {
  const Leaves l;
  const IterVar other = make_iter_var(make_var("r"), make_int(2), make_int(5), IterKind::Reduction);
  EXPECT_EQ(to_string(make_reduce(l.sum, {l.x}, {l.axis, other}, nullptr)),
            "reduce(sum, [k < 8, r from 2 extent 5], x)");
}

TEST(Print, Loops) {
  const Leaves l;
  const Stmt body = make_barrier();
  EXPECT_EQ(to_string(make_for(l.i, l.n, LoopKind::Unrolled, body)),
            "unrolled i < n {\n  barrier\n}\n");
  EXPECT_EQ(to_string(make_for(l.i, make_int(4), LoopKind::Vectorized, body)),
            "vectorized i < 4 {\n  barrier\n}\n");
  EXPECT_EQ(to_string(make_thread_for(l.i, l.n, {false, 1}, make_if(l.p, body))),
            "thread<threadIdx.y> i < n {\n  if p {\n    barrier\n  }\n}\n");
  EXPECT_EQ(to_string(make_empty()), "");
}

// The first object of a name gets the plain name; each object keeps its name.
TEST(Print, NamesAreToldApart) {
  const Expr a = make_var("x"), b = make_var("x"), c = make_var("x"), y = make_var("y");
  EXPECT_EQ(to_string(a + b + c + b + a + y), "x + x.1 + x.2 + x.1 + x + y");
  const Buffer x = make_buffer("x", kInt32, {4}, MemoryScope::Global);
  EXPECT_EQ(to_string(make_store(x, {a}, b)), "x[x.1] = x.2\n");
}

// Generated names also differ from source names that look generated.
TEST(Print, MadeNamesAreNotTaken) {
  const Expr a = make_var("x.1"), b = make_var("x"), c = make_var("x"), d = make_var("x.1");
  EXPECT_EQ(to_string(a + b + c), "x.1 + x + x.2");
  EXPECT_EQ(to_string(b + c + a + d), "x + x.1 + x.1.1 + x.1.2");
}

TEST(Print, Declarations) {
  const auto text = [](const Buffer& b) { return to_string(make_allocate(b, make_barrier())); };
  EXPECT_EQ(text(make_buffer("A", kInt64, {2, 3}, MemoryScope::Shared)),
            "buffer.alloca A: shared int64[2, 3]\nbarrier\n");
  EXPECT_EQ(text(make_buffer("A", kFloat32, {}, MemoryScope::Local)),
            "buffer.alloca A: local float32[]\nbarrier\n");
  const Layout layout = texture_layout({2, 3, 7}, TextureRule::Activation);
  EXPECT_EQ(text(make_texture("T", Type::f(16), layout)),
            "texture2d.alloca T: texture2d<float16>[2, 3, 7] 2 x 6 texels, "
            "texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)]\nbarrier\n");
  EXPECT_EQ(text(make_texture("T", kFloat32, layout, {make_var("tx"), make_var("ty")})),
            "texture2d.alloca T: texture2d<float32>[2, 3, 7] 2 x 6 texels, "
            "texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)], "
            "origin=(tx, ty)\nbarrier\n");
  EXPECT_EQ(to_string(make_free(make_texture("T", kFloat32, layout))), "texture2d.free T\n");
}

Program two_stage_program() {
  const Layout layout = texture_layout({8, 4}, TextureRule::Activation);
  const Buffer a = make_buffer("A", kFloat32, {32}, MemoryScope::Global);
  const Buffer t = make_texture("T", kFloat32, layout);
  const Expr step = make_var("step"), bx = make_var("bx"), tx = make_var("tx");
  Kernel kernel;
  kernel.name = "fill";
  kernel.params = {{a, Access::Read, nullptr}, {t, Access::Write, nullptr}, {nullptr, {}, step}};
  kernel.axes = {{{true, 0}, bx, make_int(2)}, {{false, 0}, tx, make_int(4)}};
  kernel.grid[0] = make_int(2);
  kernel.block = {4, 1, 1};
  kernel.body =
      make_texture_store(t, bx * 4 + tx, make_int(0),
                         make_load(a, {make_ramp((bx * 4 + tx) * 4 + step, make_int(1), 4)}));
  Program program;
  program.name = "main";
  program.stage = ProgramStage::Kernels;
  program.params = {a};
  program.temporaries = {t};
  program.body = make_for(step, make_int(3), LoopKind::Serial, make_launch(0));
  program.kernels = {kernel};
  return program;
}

TEST(Print, Programs) {
  const std::string kernel =
      "kernel fill grid=(2, 1, 1) block=(4, 1, 1)\n"
      "  param A: read global float32[32]\n"
      "  param T: write texture2d<float32>[8, 4] 8 x 1 texels, "
      "texture[(d0, d1) -> rows=(), cols=(d0), lanes=(d1)]\n"
      "  param step: int32\n"
      "  axis bx = blockIdx.x < 2\n"
      "  axis tx = threadIdx.x < 4\n"
      "  texture2d.store(T, x=bx * 4 + tx, y=0, "
      "A[ramp((bx * 4 + tx) * 4 + step, 1, 4)]: float32x4)\n";
  const Program program = two_stage_program();
  EXPECT_EQ(to_string(program),
            "program main stage=kernels\n"
            "  param A: global float32[32]\n"
            "  texture2d.alloca T: texture2d<float32>[8, 4] 8 x 1 texels, "
            "texture[(d0, d1) -> rows=(), cols=(d0), lanes=(d1)]\n"
            "  for step < 3 {\n"
            "    launch fill(A, T, step) grid=(2, 1, 1) block=(4, 1, 1)\n"
            "  }\n"
            "\n" +
                kernel);
  EXPECT_EQ(to_string(program.kernels[0]), kernel);
}

// A launch refers to a kernel of its program, so it cannot be printed by itself.
TEST(Print, LaunchesArePartOfAProgram) { EXPECT_THROW(to_string(make_launch(0)), InternalError); }

TEST(Print, StagesAndAccesses) {
  EXPECT_EQ(to_string(ProgramStage::Te), "te");
  EXPECT_EQ(to_string(ProgramStage::Loops), "loops");
  EXPECT_EQ(to_string(ProgramStage::Flattened), "flattened");
  EXPECT_EQ(to_string(ProgramStage::Kernels), "kernels");
  EXPECT_EQ(to_string(ProgramStage::Legalized), "legalized");
  EXPECT_EQ(to_string(Access::Read), "read");
  EXPECT_EQ(to_string(Access::Write), "write");
  EXPECT_EQ(to_string(Access::ReadWrite), "read_write");
}

}  // namespace
}  // namespace texloom::ir
