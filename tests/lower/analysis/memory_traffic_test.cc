// Tests counting the reads and writes of kernels.
#include "lower/analysis/memory_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::global;
using ir::kFloat32;
using ir::make_int;
using ir::Stmt;

class KernelTraffic : public ::testing::Test {
 protected:
  // The traffic of 4 blocks of 8 threads: 32 times the body.
  std::vector<Traffic> of(const Stmt& body) const {
    ir::Kernel kernel;
    kernel.grid[0] = make_int(4);
    kernel.block = {8, 1, 1};
    kernel.axes = {{{true, 0}, bx, make_int(4)}, {{false, 0}, tx, make_int(8)}};
    kernel.body = body;
    return traffic_of(kernel);
  }
  static Movement times(int64_t accesses, int64_t each) {
    return {{accesses, true}, {accesses * each, true}};
  }

  Expr bx = ir::make_var("bx");
  Expr tx = ir::make_var("tx");
  ir::Buffer x = global("x", kFloat32, 64);
  ir::Buffer y = global("y", ir::Type::f(16), 64);
};

TEST_F(KernelTraffic, OfVectorsAndScalars) {
  const auto found = of(put_vector(x, tx, ir::vector_at(x, bx, 4)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].read, times(32, 16));
  EXPECT_EQ(found[0].written, times(32, 16));

  const auto halves = of(put(y, tx, at(y, bx)));
  EXPECT_EQ(halves[0].read, times(32, 2));
}

// The number of iterations of a While is unknown.
TEST_F(KernelTraffic, OfLoopsWithAnEndThatIsNotKnown) {
  const Expr holds = ir::make_binary(BinaryOp::Lt, at(x, tx), at(x, bx));
  const auto found = of(ir::make_while(holds, put(x, tx, at(x, bx))));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].written.accesses.exact);
}

// A texel counts as four lanes, even if only one is used.
TEST_F(KernelTraffic, OfTexels) {
  const ir::Buffer t = ir::texture("t", kFloat32, 8, 8);
  const auto found = of(put(x, tx, lane(texel(t, tx, bx), 1)));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].buffer.same_as(t));
  EXPECT_EQ(found[0].read, times(32, 16));
  EXPECT_EQ(found[0].written, times(0, 16));
  EXPECT_EQ(found[1].written, times(32, 4));
}

// Which of the blocks is the last one is not known: all of them may be, at most.
TEST_F(KernelTraffic, OfLastBlocks) {
  const ir::Buffer counters = ir::make_counters("counters", make_int(1));
  const ir::Buffer flag = ir::shared("flag", ir::kInt32, 1);
  const auto found = of(
      ir::make_last_block(counters, make_int(0), make_int(4), flag, put(x, tx, ir::make_float(0))));
  const auto written =
      std::ranges::find_if(found, [&](const Traffic& each) { return each.buffer.same_as(x); });
  ASSERT_NE(written, found.end());
  EXPECT_FALSE(written->written.accesses.exact);
  EXPECT_EQ(written->written.accesses.value, 32);
}

TEST_F(KernelTraffic, UnderGuardsAndInLoops) {
  const Expr i = ir::make_var("i");
  const Stmt loop = make_for(i, make_int(3), ir::LoopKind::Serial, put(x, i, ir::make_float(0)));
  const Stmt guarded = make_if(make_binary(BinaryOp::Lt, tx, make_int(5)), loop);
  EXPECT_EQ(of(guarded)[0].written, times(4 * 5 * 3, 4));
}

// All eight threads read the condition, but only the selected operand: five read x, three read y.
TEST_F(KernelTraffic, OfAChoice) {
  const ir::Buffer z = global("z", kFloat32, 64);
  const Expr first = make_binary(BinaryOp::Lt, tx, make_int(5));
  const auto found =
      of(put(z, tx, make_select(first, at(x, tx), at(global("w", kFloat32, 8), tx))));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].read, times(20, 4));
  EXPECT_EQ(found[1].read, times(12, 4));
}

// If the left side decides, the right side is not read: five of eight threads read x, three read y.
TEST_F(KernelTraffic, OfConditionsThatAreDecidedEarly) {
  const ir::Buffer z = global("z", ir::kBool, 64);
  const Expr first = make_binary(BinaryOp::Lt, tx, make_int(5));
  const auto positive = [&](const ir::Buffer& b) {
    return make_binary(BinaryOp::Gt, at(b, tx), ir::make_const(0, b->type));
  };
  EXPECT_EQ(of(put(z, tx, first && positive(x)))[0].read, times(20, 4));
  EXPECT_EQ(of(put(z, tx, make_binary(BinaryOp::Or, first, positive(y))))[0].read, times(12, 2));
}

}  // namespace
}  // namespace texloom::lower
