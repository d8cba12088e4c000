// Tests which accesses to shared buffers may meet in one element.
#include "lower/barriers/shared_access.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::Expr;
using ir::floormod;
using ir::kFloat32;
using ir::make_int;
using ir::make_ramp;
using ir::make_var;

class SharedAccesses : public ::testing::Test {
 protected:
  SharedAccesses() {
    ranges.enter(tx, make_int(4));
    ranges.enter(i, make_int(6));
  }
  // An element of the copy (var + phase) % 3; a copy has 4 elements.
  Expr copy(const Expr& var, int phase) const { return floormod(var + phase, make_int(3)) * 4; }
  SharedAccess access(const Expr& index) const { return {s, {index}, ranges, {tx.get()}}; }

  Expr i = make_var("i"), j = make_var("j"), tx = make_var("tx");
  ir::Buffer s = ir::shared("s", kFloat32, 16), other = ir::shared("other", kFloat32, 16);
  ir::arith::Ranges ranges;
};

TEST_F(SharedAccesses, BuffersAreToldApart) {
  EXPECT_FALSE(access(tx).may_meet({other, {tx}, ranges, {}}));
  EXPECT_TRUE(access(tx).may_meet(access(tx + 1)));
}

TEST_F(SharedAccesses, CopiesTakeTurns) {
  EXPECT_FALSE(access(copy(i, 0) + tx).may_meet(access(copy(i, 1) + tx)));
  EXPECT_TRUE(access(copy(i, 0) + tx).may_meet(access(copy(i, 3) + 1)));
  EXPECT_TRUE(access(copy(i, 0) + tx).may_meet(access(copy(j, 1) + tx)));
  // Different threads may use different copies.
  EXPECT_TRUE(access(copy(tx, 0)).may_meet(access(copy(tx, 1))));
  // The first index may reach past its copy.
  EXPECT_TRUE(access(copy(i, 0) + tx + 1).may_meet(access(copy(i, 1) + tx)));
}

// The last lane counts too, and an unknown stride may reach any element.
TEST_F(SharedAccesses, VectorsStayInTheirCopies) {
  const Expr next = copy(i, 1) + tx;
  EXPECT_FALSE(access(make_ramp(copy(i, 0), make_int(1), 4)).may_meet(access(next)));
  EXPECT_TRUE(access(make_ramp(copy(i, 0), make_int(2), 4)).may_meet(access(next)));
  EXPECT_TRUE(access(make_ramp(copy(i, 0), j, 4)).may_meet(access(next)));
}

// The next iteration shifts only the copies that depend on its loop.
TEST_F(SharedAccesses, IterationsOfALoop) {
  std::vector<SharedAccess> accesses{access(copy(i, 1) + tx), access(copy(j, 1) + tx), access(tx)};
  next_iteration(accesses, i);
  EXPECT_EQ(accesses[0], access(copy(i, 0) + tx));
  EXPECT_EQ(accesses[1], access(copy(j, 1) + tx));
  EXPECT_EQ(accesses[2], access(tx));
  next_iteration(accesses, i);
  EXPECT_EQ(accesses[0], access(copy(i, 2) + tx));
  leave_loop(accesses, i);
  EXPECT_FALSE(accesses[0].turn.has_value());
  EXPECT_TRUE(accesses[1].turn.has_value());
}

TEST_F(SharedAccesses, WritesOfOnePlaceHaveNoOrder) {
  const auto write = [&](const Expr& index) {
    SharedAccess made = access(index);
    made.place = {index};
    return made;
  };
  EXPECT_FALSE(write(tx).may_overwrite(write(tx)));
  EXPECT_TRUE(write(tx).may_overwrite(write(tx + 1)));
  // An unknown place may be any.
  EXPECT_TRUE(access(tx).may_overwrite(access(tx)));
  EXPECT_TRUE(write(tx).may_overwrite(access(tx)));
}

}  // namespace
}  // namespace texloom::lower
