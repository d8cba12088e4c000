// Tests unrolling loops into copies.
#include "lower/loops/unroll_loops.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using ir::Expr;
using ir::kFloat32;
using ir::LoopKind;
using ir::make_for;
using ir::make_int;
using ir::make_seq;
using ir::make_var;
using ir::put;
using ir::Stmt;

class UnrollLoops : public ::testing::Test {
 protected:
  static std::string unrolled(const Stmt& s) { return after(unroll_loops, s); }
  Stmt loop(const Expr& extent, LoopKind kind, const Stmt& body) const {
    return make_for(i, extent, kind, body, schedule::testing::line(17));
  }
  Stmt loop(int64_t extent, LoopKind kind, const Stmt& body) const {
    return loop(make_int(extent), kind, body);
  }

  Expr i = make_var("i"), n = make_var("n");
  ir::Buffer a = ir::global("a", kFloat32, 64), y = ir::global("y", kFloat32, 64);
  ir::Buffer t =
      ir::make_texture("t", kFloat32, texture_layout({8, 8, 4}, ir::TextureRule::Activation));
  Stmt copy = put(y, i, at(a, i));
};

TEST_F(UnrollLoops, Copies) {
  EXPECT_EQ(unrolled(loop(3, LoopKind::Unrolled, copy)), "y[0] = a[0]\ny[1] = a[1]\ny[2] = a[2]\n");
  EXPECT_EQ(unrolled(loop(1, LoopKind::Unrolled, copy)), "y[0] = a[0]\n");
}

TEST_F(UnrollLoops, NestedLoops) {
  const Expr j = make_var("j");
  const Stmt inner = make_for(j, make_int(2), LoopKind::Unrolled, put(y, i * 2 + j, at(a, j)));
  EXPECT_EQ(unrolled(loop(2, LoopKind::Unrolled, inner)),
            "y[0] = a[0]\ny[1] = a[1]\ny[2] = a[0]\ny[3] = a[1]\n");
}

// A loop that cannot be unrolled becomes a plain loop and keeps its source line.
TEST_F(UnrollLoops, SymbolicExtents) {
  const Stmt symbolic = loop(n, LoopKind::Unrolled, copy);
  EXPECT_EQ(unrolled(symbolic), to_string(symbolic));
}

TEST_F(UnrollLoops, OtherLoops) {
  const Stmt serial = loop(2, LoopKind::Serial, copy);
  EXPECT_EQ(unrolled(serial), to_string(serial));
  const Stmt threads = make_thread_for(i, make_int(2), {false, 0}, copy);
  EXPECT_EQ(unrolled(threads), to_string(threads));
}

// Unrolling makes at most 4,096 stores, or 4,096 copies of a body without stores.
TEST_F(UnrollLoops, Limit) {
  const Stmt two = make_seq({copy, put(a, i, at(y, i))});
  const auto is_copied = [&](int64_t extent, const Stmt& body) {
    Lowering lowering;
    lowering.program.body = loop(extent, LoopKind::Unrolled, body);
    unroll_loops(lowering);
    const auto* left = as<ir::For>(lowering.program.body);
    if (left == nullptr) return true;
    EXPECT_EQ(left->loop, LoopKind::Serial);
    EXPECT_EQ(left->location.line, 17);
    return false;
  };
  EXPECT_TRUE(is_copied(4096, copy));
  EXPECT_FALSE(is_copied(4097, copy));
  EXPECT_TRUE(is_copied(2048, two));
  EXPECT_FALSE(is_copied(2049, two));
  EXPECT_TRUE(is_copied(4096, ir::make_barrier()));
  EXPECT_FALSE(is_copied(4097, ir::make_barrier()));
}

// A short loop that indexes lanes is unrolled without a directive, so the lanes are constants.
TEST_F(UnrollLoops, LoopsOverLanes) {
  const auto reading = [&](int64_t extent, const Expr& row, const Expr& lane) {
    return unrolled(loop(extent, LoopKind::Serial, put(y, n, make_load(t, {row, n, lane}))));
  };
  EXPECT_EQ(reading(2, n, i), "y[n] = t[n, n, 0]\ny[n] = t[n, n, 1]\n");
  EXPECT_EQ(reading(1, n, i * 2 + 1), "y[n] = t[n, n, 1]\n");
  EXPECT_EQ(reading(4, n, i).find("for"), std::string::npos);
  EXPECT_EQ(reading(5, n, i), "for i < 5 {\n  y[n] = t[n, n, i]\n}\n");
  EXPECT_EQ(reading(2, i, n), "for i < 2 {\n  y[n] = t[i, n, n]\n}\n");
}

// A loop is unrolled if one of its reads indexes lanes, whatever the other reads index.
TEST_F(UnrollLoops, LoopsOverLanesAmongOthers) {
  const Expr lane = make_load(t, {n, n, i}), row = make_load(t, {i, n, n});
  EXPECT_EQ(unrolled(loop(1, LoopKind::Serial, put(y, n, lane + row + at(a, i)))),
            "y[n] = t[n, n, 0] + t[0, n, n] + a[0]\n");
}

}  // namespace
}  // namespace texloom::lower
