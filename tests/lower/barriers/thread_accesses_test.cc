// Tests finding the exchanges between threads, at most one per buffer.
#include "lower/barriers/thread_accesses.h"

#include <gtest/gtest.h>

#include "ir/equal.h"
#include "tests/ir/accesses.h"

namespace texloom::lower::testing {
namespace {

using ir::Expr;
using ir::global;
using ir::kFloat32;
using ir::make_int;
using ir::put;
using ir::Stmt;
using ir::Stmts;
using ir::ThreadTag;

class ThreadAccessesOf : public ::testing::Test {
 protected:
  // The exchanges of these statements, run by eight threads.
  ThreadAccesses accesses(Stmts body) const {
    const Stmt loops =
        make_thread_for(tx, make_int(8), {.block = false, .dim = 0}, ir::make_seq(std::move(body)));
    return {loops, [](const ir::Buffer&) { return true; }, ranges};
  }
  static constexpr auto any = [](ThreadTag) { return true; };

  ir::arith::Ranges ranges;
  Expr tx = ir::make_var("tx");
  ir::Buffer a = global("a", kFloat32, 4096), b = global("b", kFloat32, 4096);
};

TEST_F(ThreadAccessesOf, OneExchangeOfEachBuffer) {
  const ThreadAccesses found =
      accesses({put(a, tx, at(b, tx)), put(b, tx, at(a, tx + 1)), put(b, tx + 1, at(a, tx + 2))});
  const std::vector<Exchange> reads = found.with_reads(0, any);
  ASSERT_EQ(reads.size(), 2);
  EXPECT_EQ(reads[0].write->buffer, a.get());
  EXPECT_TRUE(equal(reads[0].other->indices.front(), tx + 1));
  EXPECT_EQ(reads[1].write->buffer, b.get());
  const std::vector<Exchange> writes = found.with_writes(0, any);
  ASSERT_EQ(writes.size(), 1);
  EXPECT_EQ(writes[0].write->buffer, b.get());
  EXPECT_TRUE(found.with_reads(0, [](ThreadTag tag) { return tag.block; }).empty());
}

// The accesses of unrolled statements form a quadratic number of pairs, here nine million, but the
// search stops at the first exchange.
TEST_F(ThreadAccessesOf, EndsAtTheFirst) {
  Stmts unrolled;
  for (int i = 0; i < 3000; ++i) unrolled.push_back(put(a, tx + i, at(a, tx + (i + 1))));
  const ThreadAccesses found = accesses(unrolled);
  EXPECT_EQ(found.with_reads(0, any).size(), 1);
  EXPECT_EQ(found.with_writes(0, any).size(), 1);
}

}  // namespace
}  // namespace texloom::lower::testing
