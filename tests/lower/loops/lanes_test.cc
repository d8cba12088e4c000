// Tests single lanes of vectors, and ranges of loops.
#include "lower/loops/lanes.h"

#include <gtest/gtest.h>

#include "lower/analysis/loop_ranges.h"
#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::Expr;
using ir::kBool;
using ir::kFloat32;
using ir::kInt32;
using ir::LoopKind;
using ir::make_int;
using ir::make_var;
using ir::ramp;

class LaneOf : public ::testing::Test {
 protected:
  static std::string lane(const Expr& e, int number = 2) {
    const Expr result = lane_of(e, number);
    EXPECT_EQ(result->type, e->type.element());
    return to_string(result);
  }

  Expr n = make_var("n"), v = make_var("v", kFloat32.with_lanes(4));
  Expr w = make_var("w", kFloat32.with_lanes(4)), p = make_var("p", kBool.with_lanes(4));
  ir::Buffer a = ir::global("a", kFloat32, 64);
};

TEST_F(LaneOf, Scalars) { EXPECT_TRUE(lane_of(n, 2).same_as(n)); }

TEST_F(LaneOf, Vectors) {
  EXPECT_EQ(lane(v), "v.lane[2]");
  EXPECT_EQ(lane(ramp(n, 4, 5)), "n + 10");
  EXPECT_EQ(lane(ramp(n, 4), 0), "n");
  EXPECT_EQ(lane(make_broadcast(n, 4)), "n");
  EXPECT_EQ(lane(ir::make_pack({make_int(7), make_int(8), n})), "n");
}

TEST_F(LaneOf, GoesDown) {
  EXPECT_EQ(lane(v - w), "v.lane[2] - w.lane[2]");
  EXPECT_EQ(lane(make_not(p)), "!p.lane[2]");
  EXPECT_EQ(lane(make_select(p, v, w)), "select(p.lane[2], v.lane[2], w.lane[2])");
  EXPECT_EQ(lane(make_select(make_var("q", kBool), v, w)), "select(q, v.lane[2], w.lane[2])");
  EXPECT_EQ(lane(make_cast(kInt32.with_lanes(4), v)), "int32(v.lane[2])");
  EXPECT_EQ(lane(make_call(ir::Intrinsic::Power, {v, w})), "power(v.lane[2], w.lane[2])");
  EXPECT_EQ(lane(at(a, ramp(n, 4))), "a[n + 2]");
}

TEST_F(LaneOf, KeepsLines) {
  const SourceLocation here = SourceLocation::make("te.py", 5);
  EXPECT_EQ(lane_of(make_binary(ir::BinaryOp::Add, v, w, here), 1)->location.line, 5);
  EXPECT_EQ(lane_of(make_load(a, {ramp(n, 4)}, here), 1)->location.line, 5);
}

TEST(LoopRanges, WhatHoldsInAllLoops) {
  const Expr i = make_var("i"), j = make_var("j"), n = make_var("n");
  const ir::Buffer y = ir::global("y", kInt32, 64);
  const ir::Stmt body =
      make_for(i, make_int(7), LoopKind::Serial, make_for(j, n, LoopKind::Unrolled, put(y, i, j)));
  const ir::arith::Ranges ranges = loop_ranges(body);
  EXPECT_EQ(ranges.of(i.get()), (ir::arith::Interval{0, 6}));
  EXPECT_EQ(ranges.of(j.get()), (ir::arith::Interval{0, ir::arith::Interval::kNone}));
  const ir::Stmt twice =
      ir::make_seq({body, make_for(i, make_int(3), LoopKind::Serial, put(y, i, i))});
  EXPECT_EQ(loop_ranges(twice).of(i.get()), (ir::arith::Interval{0, 6}));
  const ir::Stmt threads = make_thread_for(j, make_int(1), {true, 0}, put(y, i, j));
  EXPECT_EQ(loop_ranges(threads).of(j.get()), (ir::arith::Interval{0, 0}));
}

}  // namespace
}  // namespace texloom::lower
