// Tests counting the work of kernels.
#include "lower/analysis/kernel_work.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::global;
using ir::kFloat32;
using ir::make_int;
using ir::Stmt;

class WorkOfKernels : public ::testing::Test {
 protected:
  // The kernel of 4 blocks of 8 threads, which only reads `x` and `t`.
  ir::Kernel kernel(const Stmt& body) const {
    ir::Kernel made;
    made.grid[0] = make_int(4);
    made.block = {8, 1, 1};
    made.axes = {{{true, 0}, bx, make_int(4)}, {{false, 0}, tx, make_int(8)}};
    made.params = {
        {x, ir::Access::Read, {}}, {t, ir::Access::Read, {}}, {y, ir::Access::Write, {}}};
    made.body = body;
    return made;
  }
  KernelWork of(const Stmt& body) const { return work_of(kernel(body)).value(); }
  static Expr sum(const Expr& a, const Expr& b) { return make_binary(BinaryOp::Add, a, b); }
  static Stmt loop(const Expr& var, int64_t extent, const Stmt& body,
                   ir::LoopKind kind = ir::LoopKind::Serial) {
    return make_for(var, make_int(extent), kind, body);
  }

  Expr bx = ir::make_var("bx");
  Expr tx = ir::make_var("tx");
  Expr i = ir::make_var("i");
  ir::Buffer x = global("x", kFloat32, 1024);
  ir::Buffer y = global("y", kFloat32, 1024);
  ir::Buffer t = ir::texture("t", kFloat32, 8, 8);
};

TEST_F(WorkOfKernels, BytesAndOperationsOfAllThreads) {
  const KernelWork work = of(put(y, tx, sum(at(x, tx), lane(texel(t, tx, bx), 1))));
  EXPECT_EQ(work.blocks, 4);
  EXPECT_EQ(work.block_threads, 8);
  EXPECT_EQ(work.operations, 32);
  EXPECT_EQ(work.buffer_bytes, 32 * (4 + 4));
  EXPECT_EQ(work.texture_bytes, 32 * 16);
  EXPECT_EQ(work.turns, 1);
}

// Compilers read an element once that is read twice, and before a loop that does not change it.
TEST_F(WorkOfKernels, RepeatedReadsCountOnce) {
  EXPECT_EQ(of(put(y, tx, sum(at(x, tx), at(x, tx)))).buffer_bytes, 32 * (4 + 4));
  const Stmt body = put(y, i, sum(at(x, tx), at(x, sum(tx, i))));
  EXPECT_EQ(of(loop(i, 5, body)).buffer_bytes, 32 * (4 + 5 * (4 + 4)));
}

TEST_F(WorkOfKernels, EqualOperationsCountOnce) {
  const auto twice = [&] { return sum(at(x, tx), at(x, tx)); };
  EXPECT_EQ(of(put(y, tx, sum(twice(), twice()))).operations, 32 * 2);
}

// An element that the kernel also writes may have changed.
TEST_F(WorkOfKernels, ReadsOfWhatIsWrittenCountEachTime) {
  EXPECT_EQ(of(put(y, tx, sum(at(y, tx), at(y, tx)))).buffer_bytes, 32 * 3 * 4);
}

// A thread waits in each iteration, once for all of its loads; an unrolled loop is one iteration.
TEST_F(WorkOfKernels, TurnsOfLoops) {
  const Stmt body = put(y, i, sum(at(x, i), at(x, sum(tx, i))));
  EXPECT_EQ(of(loop(i, 5, body)).turns, 5);
  EXPECT_EQ(of(loop(i, 5, body, ir::LoopKind::Unrolled)).turns, 1);
  const Expr k = ir::make_var("k");
  EXPECT_EQ(of(loop(k, 3, loop(i, 5, body))).turns, 15);
  EXPECT_EQ(of(loop(i, 5, put(y, i, at(x, tx)))).turns, 1);
}

// An argument counts once, and no more of it than is touched.
TEST_F(WorkOfKernels, DistinctBytes) {
  EXPECT_EQ(of(put(y, tx, at(x, tx))).distinct_bytes, 2 * 32 * 4);
  EXPECT_EQ(of(loop(i, 1024, put(y, i, at(x, i)))).distinct_bytes, 2 * 1024 * 4);
}

TEST_F(WorkOfKernels, ArraysOfAThreadAndOfABlock) {
  const ir::Buffer kept = ir::local("kept", kFloat32, 12);
  const ir::Buffer shared = ir::shared("shared", kFloat32, 8);
  const Stmt body = ir::make_seq({put(kept, make_int(0), at(x, tx)), put(shared, tx, at(x, tx))});
  const KernelWork work = of(ir::make_allocate(kept, ir::make_allocate(shared, body)));
  EXPECT_EQ(work.registers, 12);
  EXPECT_EQ(work.block_shared_bytes, 32);
  EXPECT_EQ(work.shared_bytes, 32 * 4);
  EXPECT_EQ(work.buffer_bytes, 32 * 4);
}

TEST_F(WorkOfKernels, IsUnknownBeforeARun) {
  const Stmt body = put(y, tx, at(x, tx));
  EXPECT_EQ(work_of(kernel(make_for(i, ir::make_var("n"), ir::LoopKind::Serial, body))),
            std::nullopt);
  const Expr holds = make_binary(BinaryOp::Lt, at(x, tx), at(x, bx));
  EXPECT_EQ(work_of(kernel(ir::make_while(holds, body))), std::nullopt);
  ir::Kernel open = kernel(body);
  open.grid[0] = ir::make_var("n");
  EXPECT_EQ(work_of(open), std::nullopt);
}

}  // namespace
}  // namespace texloom::lower
