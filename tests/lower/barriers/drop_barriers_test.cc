// Barriers that separate conflicting accesses stay; others are dropped.
#include "lower/barriers/drop_barriers.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::LoopKind;
using ir::make_float;
using ir::make_for;
using ir::make_if;
using ir::make_int;
using ir::make_let;
using ir::make_seq;
using ir::make_var;
using ir::make_while;
using ir::put;
using ir::Stmt;
using ir::Stmts;

class DropBarriers : public ::testing::Test {
 protected:
  // The statements after the pass, run by four threads.
  static std::string left(Stmts statements, std::array<int64_t, 3> block = {4, 1, 1}) {
    ir::Kernel kernel;
    kernel.block = block;
    kernel.body = make_seq(std::move(statements));
    return to_string(drop_barriers(kernel));
  }
  static std::string text(Stmts statements) { return to_string(make_seq(std::move(statements))); }
  static void expect_all_stay(const Stmts& statements) {
    EXPECT_EQ(left(statements), text(statements));
  }
  Stmt loop(Stmts body) const { return loop(make_int(4), std::move(body)); }
  Stmt loop(const Expr& extent, Stmts body) const {
    return make_for(i, extent, LoopKind::Serial, make_seq(std::move(body)));
  }

  Expr i = make_var("i"), n = make_var("n"), tx = make_var("tx"), v = make_var("v", kFloat32);
  Buffer s = ir::shared("s", kFloat32, 16), counts = ir::shared("counts", kInt32, 16);
  Buffer a = ir::global("a", kFloat32, 16), own = ir::local("own", kFloat32, 4);
  Stmt write = put(s, tx, at(a, tx)), read = put(own, make_int(0), at(s, 0));
  Stmt write_count = put(counts, tx, make_int(1));
  Stmt barrier = ir::make_barrier();
};

TEST_F(DropBarriers, OneOfSeveralInARowIsEnough) {
  expect_all_stay({write, barrier, read});
  EXPECT_EQ(left({write, barrier, barrier, barrier, read}), text({write, barrier, read}));
}

// The start and the end of a kernel order its accesses with those of other kernels.
TEST_F(DropBarriers, NoneAtTheEnds) {
  EXPECT_EQ(left({barrier, write, barrier, read, barrier}), text({write, barrier, read}));
  EXPECT_EQ(left({barrier}), "");
}

TEST_F(DropBarriers, OneThreadWaitsForNobody) {
  EXPECT_EQ(left({write, barrier, read}, {1, 1, 1}), text({write, read}));
  const std::string all = text({write, barrier, read});
  EXPECT_EQ(left({write, barrier, read}, {1, 4, 1}), all);
  EXPECT_EQ(left({write, barrier, read}, {1, 1, 4}), all);
}

// Private memory and memory that the kernel only reads need no barriers; written memory that
// threads share needs them in any scope.
TEST_F(DropBarriers, AccessesThatCount) {
  const Stmt private_access = put(own, make_int(1), at(a, 0));
  EXPECT_EQ(left({write, barrier, private_access, barrier, read}),
            text({write, private_access, barrier, read}));
  const Stmt to_all = put(a, tx, make_float(1)), from_all = put(own, make_int(0), at(a, 0));
  expect_all_stay({to_all, barrier, from_all});
  EXPECT_EQ(left({private_access, barrier, private_access}),
            text({private_access, private_access}));
}

// Reads in indices and values count as accesses, like stores.
TEST_F(DropBarriers, AllPlacesOfReads) {
  const Buffer t = ir::texture("t", kFloat32, 4, 4);
  expect_all_stay({write_count, barrier, put(own, at(counts, 0), make_float(0))});
  expect_all_stay({write, barrier, make_texture_store(t, tx, tx, ir::make_broadcast(at(s, 0), 4))});
  expect_all_stay({write, barrier, make_let(v, at(s, 0), put(own, make_int(0), v))});
}

// A read in the value of a Let is an access before the body of the Let.
TEST_F(DropBarriers, InsideDefinitions) {
  expect_all_stay({make_let(v, at(s, 0), make_seq({barrier, write}))});
  EXPECT_EQ(left({make_let(v, at(a, 0), make_seq({barrier, write}))}),
            text({make_let(v, at(a, 0), write)}));
  EXPECT_EQ(left({write, barrier, make_let(v, at(a, 0), make_seq({barrier, read}))}),
            text({write, make_let(v, at(a, 0), make_seq({barrier, read}))}));
}

// A barrier before a loop is redundant if the loop runs at least once and begins with a barrier.
TEST_F(DropBarriers, BeforeLoopsThatBeginWithOne) {
  EXPECT_EQ(left({write, barrier, loop({barrier, read}), read}),
            text({write, loop({barrier, read}), read}));
  EXPECT_EQ(left({write, barrier, loop({barrier, read})}), text({write, loop({barrier, read})}));
}

// A barrier after a loop is redundant if the loop runs at least once and ends with a barrier.
TEST_F(DropBarriers, AfterLoopsThatEndWithOne) {
  EXPECT_EQ(left({write, loop({read, barrier, write, barrier}), barrier, read}),
            text({write, loop({read, barrier, write, barrier}), read}));
}

// A loop that may run zero times separates nothing.
TEST_F(DropBarriers, AroundLoopsThatMayNotRun) {
  expect_all_stay({write, barrier, loop(n, {barrier, read}), read});
  expect_all_stay({write, loop(n, {read, barrier}), barrier, read});
}

// A barrier stays if it separates an iteration from the next one.
TEST_F(DropBarriers, FromIterationToIteration) {
  expect_all_stay({loop({write, barrier, read, barrier})});
  expect_all_stay({loop({barrier, write, barrier, read})});
  expect_all_stay({loop({barrier, write})});
  expect_all_stay({loop({write, barrier})});
}

TEST_F(DropBarriers, LoopsOfNothingElseVanish) {
  EXPECT_EQ(left({write, loop({barrier}), barrier, read}), text({write, barrier, read}));
  EXPECT_EQ(left({loop({barrier}), write}), text({write}));
  EXPECT_EQ(left({write, barrier, make_if(n < make_int(3), barrier), read}),
            text({write, barrier, read}));
}

// A read in the extent of a loop is an access before the loop.
TEST_F(DropBarriers, Extents) {
  expect_all_stay({write_count, barrier, loop(at(counts, 0), {put(own, i, make_float(0))})});
  expect_all_stay({loop(at(counts, 0), {barrier, write_count, barrier})});
}

// The condition of a While is evaluated before its body and after it.
TEST_F(DropBarriers, ConditionsOfLoops) {
  const Expr asked = at(s, 0) < make_float(1);
  expect_all_stay({write, barrier, make_while(asked, put(own, make_int(0), make_float(0)))});
  expect_all_stay({make_while(asked, make_seq({barrier, write, barrier}))});
  // This loop may run zero times.
  const Stmt other = make_while(n < make_int(3), make_seq({barrier, read}));
  expect_all_stay({write, barrier, other, read});
}

// A guarded barrier separates only guarded accesses.
TEST_F(DropBarriers, UnderGuards) {
  const Expr condition = n < make_int(3);
  const auto guarded = [&](Stmts statements) {
    return make_if(condition, make_seq(std::move(statements)));
  };
  EXPECT_EQ(left({write, barrier, guarded({barrier, read}), read}),
            text({write, barrier, guarded({read}), read}));
  EXPECT_EQ(left({write, guarded({read, barrier}), barrier, read}),
            text({write, guarded({read}), barrier, read}));
  EXPECT_EQ(left({write, barrier, guarded({barrier, read})}),
            text({write, guarded({barrier, read})}));
}

// A read in the condition of a guard is an access before the guarded statement.
TEST_F(DropBarriers, ConditionsOfGuards) {
  const Expr asked = at(s, 0) < make_float(1);
  expect_all_stay({write, barrier, make_if(asked, put(own, make_int(0), make_float(0)))});
  expect_all_stay({make_if(asked, make_seq({barrier, write}))});
}

TEST_F(DropBarriers, InsideAllocations) {
  EXPECT_EQ(left({make_allocate(s, make_seq({barrier, write, barrier, barrier, read}))}),
            text({make_allocate(s, make_seq({write, barrier, read}))}));
}

// Loops keep their kind and location.
TEST_F(DropBarriers, LoopsStayWhatTheyAre) {
  ir::Kernel kernel;
  kernel.block = {4, 1, 1};
  kernel.body = make_for(i, make_int(4), LoopKind::Unrolled, make_seq({barrier, write}),
                         SourceLocation::make("te.py", 7));
  const ir::Stmt result = drop_barriers(kernel);
  const auto* loop = ir::as<ir::For>(result);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->loop, LoopKind::Unrolled);
  EXPECT_EQ(loop->location.line, 7);
}

}  // namespace
}  // namespace texloom::lower
