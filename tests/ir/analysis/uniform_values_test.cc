// Tests which values are the same for all threads of a block.
#include "ir/analysis/uniform_values.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"

namespace texloom::ir {
namespace {

class UniformValuesTest : public ::testing::Test {
 protected:
  // Whether `e` may differ between threads in a kernel of four threads with this body.
  bool varies(const Expr& e, const Stmt& body = make_empty()) const {
    Kernel kernel;
    kernel.axes = {{{.block = true, .dim = 0}, bx, make_int(8)},
                   {{.block = false, .dim = 0}, tx, make_int(4)}};
    kernel.body = body;
    return UniformValues(kernel).varies(e);
  }
  // Whether threads may hold different values in `own[0]`, local memory that the body stores to.
  bool own_varies(const Stmt& body) const { return varies(at(own, 0), body); }
  Stmt loop(const Expr& extent, const Stmt& body) const {
    return make_for(i, extent, LoopKind::Serial, body);
  }
  Stmt set_own(const Expr& value) const { return put(own, make_int(0), value); }

  Expr bx = make_var("bx"), tx = make_var("tx"), n = make_var("n"), i = make_var("i");
  Expr v = make_var("v"), w = make_var("w");
  Buffer own = local("own", kInt32, 4), other = local("other", kInt32, 4);
  Buffer all = global("all", kInt32, 16), block = shared("block", kInt32, 16);
};

TEST_F(UniformValuesTest, IndicesOfThreadsVary) {
  EXPECT_TRUE(varies(tx));
  EXPECT_TRUE(varies(n * 4 + tx));
  EXPECT_FALSE(varies(bx));
  EXPECT_FALSE(varies(n + bx * 4));
  EXPECT_FALSE(varies(make_int(3)));
}

// A load from shared or global memory is uniform if its index is, whatever was stored there.
TEST_F(UniformValuesTest, MemoryInCommon) {
  EXPECT_FALSE(varies(at(all, bx), put(all, tx, tx)));
  EXPECT_FALSE(varies(at(block, 0), put(block, tx, tx)));
  EXPECT_TRUE(varies(at(all, tx)));
  EXPECT_TRUE(varies(at(block, at(all, tx))));
}

TEST_F(UniformValuesTest, Definitions) {
  EXPECT_TRUE(varies(v, make_let(v, tx, make_empty())));
  EXPECT_FALSE(varies(v, make_let(v, bx, make_empty())));
  // Through another variable.
  EXPECT_TRUE(varies(w, make_let(v, tx + 1, make_let(w, v + 1, make_empty()))));
}

// Loop variables are uniform unless the trip count differs between threads.
TEST_F(UniformValuesTest, Loops) {
  EXPECT_FALSE(varies(i, loop(n, set_own(i))));
  EXPECT_TRUE(varies(i, loop(tx, set_own(i))));
}

// Local memory is uniform if all threads store the same value at the same index.
TEST_F(UniformValuesTest, OwnMemory) {
  EXPECT_FALSE(own_varies(make_empty()));
  EXPECT_FALSE(own_varies(set_own(bx)));
  EXPECT_TRUE(own_varies(set_own(tx)));
  EXPECT_TRUE(own_varies(put(own, tx, make_int(1))));
  EXPECT_FALSE(own_varies(put(other, make_int(0), tx)));
  EXPECT_TRUE(own_varies(make_seq({set_own(tx), set_own(bx)})));
}

// A store that only some threads execute makes the memory vary.
TEST_F(UniformValuesTest, OwnMemoryUnderConditions) {
  EXPECT_FALSE(own_varies(make_if(bx < n, set_own(n))));
  EXPECT_TRUE(own_varies(make_if(tx < n, set_own(n))));
  EXPECT_TRUE(own_varies(make_if(tx < n, make_if(bx < n, set_own(n)))));
  EXPECT_FALSE(own_varies(loop(n, set_own(n))));
  EXPECT_TRUE(own_varies(loop(tx, set_own(n))));
  EXPECT_FALSE(own_varies(make_while(at(all, 0) < n, set_own(n))));
  EXPECT_TRUE(own_varies(make_while(at(all, tx) < n, set_own(n))));
  // After the branch, all threads run again.
  EXPECT_FALSE(own_varies(make_seq({make_if(tx < n, put(all, tx, n)), set_own(n)})));
}

// A counter in local memory is uniform until only some threads increment it.
TEST_F(UniformValuesTest, Counters) {
  const Expr count = at(own, 0);
  const Stmt step = set_own(count + 1);
  EXPECT_FALSE(own_varies(make_seq({set_own(make_int(0)), make_while(count < n, step)})));
  EXPECT_TRUE(own_varies(
      make_seq({set_own(make_int(0)), make_while(count < n, make_if(tx < count, step))})));
}

// A value that varies at the end of a loop body varies at its start.
TEST_F(UniformValuesTest, AroundLoops) {
  const Stmt copy = put(other, make_int(0), at(own, 0));
  EXPECT_TRUE(varies(at(other, 0), loop(n, make_seq({copy, set_own(tx)}))));
  EXPECT_FALSE(varies(at(other, 0), loop(n, make_seq({copy, set_own(n)}))));
  // A value that is loaded into a Let variable varies, too.
  const Stmt defined = make_let(v, at(own, 0), put(other, make_int(0), v));
  EXPECT_TRUE(varies(v, loop(n, make_seq({defined, set_own(tx)}))));
}

TEST_F(UniformValuesTest, VariablesOfAKernel) {
  Kernel kernel;
  kernel.axes = {{{.block = true, .dim = 0}, bx, make_int(8)},
                 {{.block = false, .dim = 1}, tx, make_int(4)}};
  kernel.body = make_let(v, tx, make_let(w, bx, make_empty()));
  const UniformValues values(kernel);
  EXPECT_EQ(values.varying(), (UniformValues::Variables{tx.get(), v.get()}));
}

// Before kernels exist, thread loops define the threads; virtual threads are not threads.
TEST_F(UniformValuesTest, Nests) {
  const Expr vx = make_var("vx");
  Stmt body = make_for(vx, make_int(2), LoopKind::Virtual, set_own(tx));
  body = make_thread_for(tx, make_int(4), {.block = false, .dim = 0}, std::move(body));
  body = make_thread_for(bx, make_int(8), {.block = true, .dim = 0}, std::move(body));
  const Stmt nest = make_nest(all, std::move(body));
  const UniformValues values(*as<Nest>(nest));
  EXPECT_EQ(values.varying(), (UniformValues::Variables{tx.get()}));
  EXPECT_TRUE(values.varies(own));
  EXPECT_FALSE(values.varies(all));
}

}  // namespace
}  // namespace texloom::ir
