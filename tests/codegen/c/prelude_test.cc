// Tests the functions printed before a kernel: only used ones, each once, for scalars and vectors.
#include "codegen/c/prelude.h"

#include <gtest/gtest.h>

#include "support/check.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::BinaryOp;
using ir::kFloat32;
using ir::kInt32;
using ir::kInt64;
using ir::Type;

TEST(Prelude, FloorOperations) {
  Prelude prelude;
  EXPECT_EQ(prelude.text(), "");
  EXPECT_EQ(prelude.floor_operation(BinaryOp::FloorDiv, kInt32), "tl_floordiv_int");
  EXPECT_EQ(prelude.text(),
            "int tl_floordiv_int(int a, int b) {\n"
            "  const int q = a / b;\n"
            "  return q - (q * b != a && (a ^ b) < 0);\n"
            "}\n\n");
  EXPECT_EQ(prelude.floor_operation(BinaryOp::FloorDiv, kInt32), "tl_floordiv_int");
  EXPECT_EQ(prelude.floor_operation(BinaryOp::FloorMod, kInt64.with_lanes(2)), "tl_floormod_long2");
  EXPECT_EQ(prelude.text(),
            "int tl_floordiv_int(int a, int b) {\n"
            "  const int q = a / b;\n"
            "  return q - (q * b != a && (a ^ b) < 0);\n"
            "}\n\n"
            "long2 tl_floormod_long2(long2 a, long2 b) {\n"
            "  const long2 r = a % b;\n"
            "  return r + ((((r | -r) & (r ^ b)) >> 63) & b);\n"
            "}\n\n");
  EXPECT_EQ(build_log(prelude.text()), "");
}

TEST(Prelude, FloorOperationsOfOtherForms) {
  Prelude prelude;
  prelude.floor_operation(BinaryOp::FloorMod, kInt32);
  prelude.floor_operation(BinaryOp::FloorDiv, kInt32.with_lanes(4));
  EXPECT_EQ(prelude.text(),
            "int4 tl_floordiv_int4(int4 a, int4 b) {\n"
            "  const int4 q = a / b;\n"
            "  const int4 r = a - q * b;\n"
            "  return q + (((r | -r) & (r ^ b)) >> 31);\n"
            "}\n\n"
            "int tl_floormod_int(int a, int b) {\n"
            "  const int r = a % b;\n"
            "  return r != 0 && (r ^ b) < 0 ? r + b : r;\n"
            "}\n\n");
  EXPECT_EQ(build_log(prelude.text()), "");
}

// Other types are an internal error, since legalization has converted unsigned and narrow operands.
TEST(Prelude, FloorOperationsOfSignedWideIntegersOnly) {
  Prelude prelude;
  EXPECT_THROW(prelude.floor_operation(BinaryOp::FloorDiv, Type::u(32)), InternalError);
  EXPECT_THROW(prelude.floor_operation(BinaryOp::FloorDiv, Type::i(16)), InternalError);
  EXPECT_THROW(prelude.floor_operation(BinaryOp::FloorDiv, kFloat32), InternalError);
}

// The printer emits definitions and calls of the prelude's functions.
TEST(Prelude, InASource) {
  const ir::Buffer x = global("x", kInt32, 8), y = global("y", kInt32, 8);
  const ir::Buffer h = global("h", Type::f(16), 8), f = global("f", kFloat32, 8);
  const ir::Stmt body = ir::make_seq({
      put(y, ir::make_int(0), floordiv(at(x, 0), at(x, 1))),
      put(y, ir::make_int(1), floormod(at(x, 0), at(x, 1))),
      put(f, ir::make_int(2), make_cast(kFloat32, at(h, 0) * at(h, 1) + at(h, 2))),
  });
  EXPECT_EQ(code(TestKernel(), body),
            "y[0] = tl_floordiv_int(x[0], x[1]);\n"
            "y[1] = tl_floormod_int(x[0], x[1] == -1 ? 1 : x[1]);\n"
            "f[2] = tl_round_half_float(tl_round_half_float(vload_half(0, h) * vload_half(1, h)) + "
            "vload_half(2, h));\n");
  const std::string preamble = head(TestKernel(), body);
  EXPECT_LT(preamble.find("tl_floordiv_int"), preamble.find("tl_floormod_int"));
  EXPECT_LT(preamble.find("tl_floormod_int"), preamble.find("tl_round_half_float"));
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
