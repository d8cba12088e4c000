#include "lower/kernels/hoist_divisions.h"

#include <gtest/gtest.h>

#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using ir::Expr;
using ir::floordiv;
using ir::floormod;
using ir::make_int;
using ir::make_seq;
using ir::Stmt;

class HoistDivisions : public ::testing::Test {
 protected:
  static Stmt loop(const Expr& var, const Stmt& body) {
    return make_for(var, make_int(8), ir::LoopKind::Serial, body);
  }
  Stmt store(const Expr& index) { return make_store(y, {index}, ir::make_float(0)); }
  static std::string hoisted(const Stmt& s) { return in_kernel(hoist_divisions, s); }

  ir::Buffer y = ir::make_buffer("Y", ir::kFloat32, {64}, ir::MemoryScope::Global);
  Expr t = ir::make_var("t"), i = ir::make_var("i"), k = ir::make_var("k");
};

// Equal divisions get one variable, before the outermost loop that does not change them.
TEST_F(HoistDivisions, OutOfTheOutermostLoop) {
  EXPECT_EQ(hoisted(loop(i, loop(k, make_seq({store(floordiv(t, 3) + k),
                                              store(floordiv(t, 3) * 8 + floormod(t, 3))})))),
            "let quotient: int32 = floordiv(t, 3)\n"
            "let remainder: int32 = floormod(t, 3)\n"
            "for i < 8 {\n"
            "  for k < 8 {\n"
            "    Y[quotient + k] = 0.0\n"
            "    Y[quotient * 8 + remainder] = 0.0\n"
            "  }\n"
            "}\n");
}

TEST_F(HoistDivisions, AsFarAsItsVariables) {
  EXPECT_EQ(hoisted(loop(i, loop(k, store(floordiv(t + i, 3) + floordiv(k, 3))))),
            "for i < 8 {\n"
            "  let quotient: int32 = floordiv(t + i, 3)\n"
            "  for k < 8 {\n"
            "    Y[quotient + floordiv(k, 3)] = 0.0\n"
            "  }\n"
            "}\n");
}

// A nested division moves with the outer one.
TEST_F(HoistDivisions, WholeExpressions) {
  EXPECT_EQ(hoisted(loop(k, store(floormod(floordiv(t, 3) + 1, 5) + k))),
            "let remainder: int32 = floormod(floordiv(t, 3) + 1, 5)\n"
            "for k < 8 {\n"
            "  Y[remainder + k] = 0.0\n"
            "}\n");
}

// A division stays if it is outside loops, or if moving it could make it fail.
TEST_F(HoistDivisions, LeavesTheRest) {
  const ir::Buffer m = ir::make_buffer("M", ir::kInt32, {64}, ir::MemoryScope::Global);
  const std::pair<Expr, const char*> rows[] = {
      {floordiv(make_int(7), t), "floordiv(7, t)"},
      {floordiv(t, 0), "floordiv(t, 0)"},
      {floormod(floordiv(make_int(100), t), 4), "floormod(floordiv(100, t), 4)"},
      {floordiv(make_load(m, {t}), 3), "floordiv(M[t], 3)"},
  };
  for (const auto& [index, text] : rows) {
    EXPECT_EQ(hoisted(loop(k, store(index))),
              fmt::format("for k < 8 {{\n  Y[{}] = 0.0\n}}\n", text));
  }
  EXPECT_EQ(hoisted(store(floordiv(t, 3))), "Y[floordiv(t, 3)] = 0.0\n");
}

}  // namespace
}  // namespace texloom::lower
