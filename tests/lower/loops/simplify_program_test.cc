// Tests simplifying indices, loops of one iteration and guards.
#include "lower/loops/simplify_program.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using ir::Expr;
using ir::LoopKind;
using ir::make_for;
using ir::make_if;
using ir::make_int;
using ir::make_seq;
using ir::make_var;
using ir::put;
using ir::Stmt;

class SimplifyProgram : public ::testing::Test {
 protected:
  static std::string simple(const Stmt& s) { return after(simplify_program, s); }
  Stmt loop(int64_t extent, const Stmt& body) const {
    return make_for(i, make_int(extent), LoopKind::Serial, body);
  }

  Expr i = make_var("i"), n = make_var("n");
  ir::Buffer y = ir::global("y", ir::kInt32, 64);
};

TEST_F(SimplifyProgram, UsesTheRangesOfLoops) {
  EXPECT_EQ(simple(loop(4, put(y, floormod(i + n * 4, 4), floordiv(i, 4)))),
            "for i < 4 {\n  y[i] = 0\n}\n");
}

TEST_F(SimplifyProgram, LoopsOfOneIteration) {
  EXPECT_EQ(simple(loop(1, put(y, i + n, i))), "y[n] = 0\n");
  EXPECT_EQ(simple(loop(2, loop(1, put(y, n, n)))), "for i < 2 {\n  y[n] = n\n}\n");
  const Stmt thread = make_thread_for(i, make_int(1), {true, 0}, put(y, n, n));
  EXPECT_EQ(simple(thread), to_string(thread));
}

TEST_F(SimplifyProgram, Guards) {
  EXPECT_EQ(simple(loop(4, make_if(i < make_int(4), put(y, i, n)))),
            "for i < 4 {\n  y[i] = n\n}\n");
  EXPECT_EQ(simple(loop(4, make_if(i < make_int(3), put(y, i, n)))),
            "for i < 3 {\n  y[i] = n\n}\n");
  EXPECT_EQ(simple(loop(4, make_if(i + 5 < make_int(8), put(y, i, n)))),
            "for i < 3 {\n  y[i] = n\n}\n");
  EXPECT_EQ(simple(loop(4, make_if(i < n, put(y, i, n)))),
            "for i < 4 {\n  if i < n {\n    y[i] = n\n  }\n}\n");
  EXPECT_EQ(simple(loop(4, make_seq({make_if(i < make_int(3), put(y, i, n)), put(y, n, n)}))),
            "for i < 4 {\n  if i < 3 {\n    y[i] = n\n  }\n  y[n] = n\n}\n");
  const Stmt thread =
      make_thread_for(i, make_int(4), {true, 0}, make_if(i < make_int(3), put(y, i, n)));
  EXPECT_EQ(simple(thread), to_string(thread));
}

// The right side of a conjunction is evaluated only if the left side holds.
TEST_F(SimplifyProgram, RightSidesOfGuards) {
  const auto guarded = [&](const Expr& condition) {
    return simple(loop(64, make_if(condition, put(y, i, n))));
  };
  EXPECT_EQ(guarded(i < make_int(16) && n + floordiv(i, 16) < make_int(3)),
            "for i < 16 {\n  if n < 3 {\n    y[i] = n\n  }\n}\n");
  EXPECT_EQ(guarded(i < make_int(16) && i < make_int(20) && i >= make_int(3)),
            "for i < 16 {\n  if i >= 3 {\n    y[i] = n\n  }\n}\n");
  EXPECT_EQ(guarded(i < make_int(16) && i >= make_int(16)), "");
}

// An empty loop is removed, but a thread loop stays: it defines the grid.
TEST_F(SimplifyProgram, EmptyLoops) {
  const Stmt never = make_if(i < make_int(0), put(y, i, n));
  EXPECT_EQ(simple(loop(4, never)), "");
  EXPECT_EQ(simple(make_seq({loop(4, never), put(y, n, n)})), "y[n] = n\n");
  EXPECT_EQ(simple(make_thread_for(i, make_int(4), {true, 0}, never)),
            "thread<blockIdx.x> i < 4 {\n}\n");
}

}  // namespace
}  // namespace texloom::lower
