// Tests counting the work of kernels.
#include "lower/analysis/kernel_work.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/parse.h"
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

// The work of the only kernel of a program at stage kernels.
KernelWork of_text(const std::string& body) {
  const std::string text = R"(program p stage=kernels
  param A: global float16[32, 16]
  param C: global float32[16, 16]
  param N: global int32[1], counters
  launch k(A, C, N) grid=(4, 1, 1) block=(32, 1, 1)

kernel k grid=(4, 1, 1) block=(32, 1, 1)
  param A: read global float16[32, 16]
  param C: write global float32[16, 16]
  param N: read_write global int32[1], counters
  axis b = blockIdx.x < 4
  axis t = threadIdx.x < 32
)" + body;
  return work_of(ir::parse_program(text, "p.tl").kernels.front()).value();
}

// A SIMD-group makes a product of parts of 16 x 16 elements together, and holds them together.
TEST_F(WorkOfKernels, StepsOfFragments) {
  const KernelWork work = of_text(R"(
  buffer.alloca S: fragment float32[16, 16]
  buffer.alloca L: fragment float16[16, 16]
  buffer.alloca R: fragment float16[16, 16]
  buffer.alloca F: shared float16[16, 16]
  F[t] = A[t]
  barrier
  fragment.fill(access_ptr(write, S[0], extents=(256)), 0.0)
  fragment.load(access_ptr(write, L[0], extents=(256)), access_ptr(read, F[0], extents=(256)), 16)
  for k < 2 {
    fragment.load(access_ptr(write, R[0], extents=(256)), access_ptr(read, A[k * 256], extents=(256)), 16)
    fragment.mma(access_ptr(read_write, S[0], extents=(256)), access_ptr(read, L[0], extents=(256)), access_ptr(read, R[0], extents=(256)))
  }
  fragment.store(access_ptr(write, C[0], extents=(256)), access_ptr(read, S[0], extents=(256)), 16)
)");
  EXPECT_EQ(work.fragment_products, 4 * 2 * 16 * 16 * 16);
  EXPECT_EQ(work.operations, 0);
  EXPECT_EQ(work.buffer_bytes, 4 * (32 * 2 + 2 * 256 * 2 + 256 * 4));
  EXPECT_EQ(work.shared_bytes, 4 * (32 * 2 + 256 * 2));
  EXPECT_EQ(work.registers, (256 * 4 + 2 * 256 * 2) / 4 / 32);
  EXPECT_EQ(work.turns, 1 + 2);
}

// What is copied is on its way for two iterations.
TEST_F(WorkOfKernels, WaitsForAsynchronousCopiesOverlap) {
  const KernelWork work = of_text(R"(
  buffer.alloca F: shared float16[3, 32]
  for k < 6 {
    await_copies pending=1
    barrier
    async_copies {
      F[floormod(k + 2, 3) * 32 + t] = A[k * 32 + t]
    }
    C[t] = float32(F[floormod(k, 3) * 32 + t])
  }
)");
  EXPECT_EQ(work.turns, 3);
  EXPECT_EQ(work.shared_bytes, 4 * 32 * 6 * (2 + 2));
}

TEST_F(WorkOfKernels, OneOfTheBlocksOfAGroupIsTheLast) {
  const KernelWork work = of_text(R"(
  buffer.alloca last: shared int32[1]
  last_block N[0] of 4 flag=last {
    C[t] = float32(A[t]) + float32(A[t + 32])
  }
)");
  EXPECT_EQ(work.operations, 32);
  EXPECT_EQ(work.turns, 1);
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
