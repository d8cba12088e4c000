// Tests building a kernel from one nest: axes, single writers, parameters, limits.
#include "lower/kernels/kernel_builder.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::Kernel;
using ir::kFloat32;
using ir::make_float;
using ir::make_int;
using ir::make_seq;
using ir::make_var;
using ir::put;
using ir::Stmt;
using ir::ThreadTag;
using schedule::testing::faults;
using schedule::testing::line;

constexpr ThreadTag kBlockX{true, 0}, kBlockY{true, 1}, kThreadX{false, 0}, kThreadY{false, 1},
    kThreadZ{false, 2};

class KernelBuilder : public ::testing::Test {
 protected:
  static Stmt thread(const Expr& var, int64_t extent, ThreadTag tag, const Stmt& body,
                     int at = 15) {
    return make_thread_for(var, make_int(extent), tag, body, line(at));
  }
  Kernel built(const Stmt& body) const {
    return build_kernel("k", *as<ir::Nest>(make_nest(y, body, line(4))), {}, target);
  }
  std::string refused(const Stmt& body) const {
    return faults([&] { built(body); });
  }
  std::string body(const Stmt& of) const { return to_string(built(of).body); }

  ir::Target target;
  Expr i = make_var("i"), j = make_var("j"), m = make_var("m");
  Buffer a = ir::global("a", kFloat32, 64), y = ir::global("y", kFloat32, 64);
  Buffer s = ir::shared("s", kFloat32, 16), l = ir::local("l", kFloat32, 16);
  Stmt copy = put(y, i, at(a, i));
};

// -- Axes.

TEST_F(KernelBuilder, Axes) {
  const Kernel kernel = built(thread(
      m, 5, kThreadY,
      thread(j, 4, kThreadX, thread(i, 3, kBlockY, put(y, i * 20 + j * 5 + m, make_float(0))))));
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.location.line, 4);
  ASSERT_EQ(kernel.axes.size(), 3U);
  EXPECT_EQ(to_string(kernel.axes[0].tag), "blockIdx.y");
  EXPECT_EQ(to_string(kernel.axes[1].tag), "threadIdx.x");
  EXPECT_EQ(to_string(kernel.axes[2].tag), "threadIdx.y");
  EXPECT_TRUE(is_int(kernel.axes[2].extent, 5));
  EXPECT_EQ(to_string(kernel.axes[2].var), "threadIdx.y");
  EXPECT_TRUE(is_int(kernel.grid[0], 1) && is_int(kernel.grid[1], 3) && is_int(kernel.grid[2], 1));
  EXPECT_EQ(kernel.block, (std::array<int64_t, 3>{4, 5, 1}));
  EXPECT_EQ(to_string(kernel.body), "y[blockIdx.y * 20 + threadIdx.x * 5 + threadIdx.y] = 0.0\n");
}

TEST_F(KernelBuilder, ThirdAxis) {
  const Kernel kernel = built(thread(i, 7, kThreadZ, copy));
  EXPECT_EQ(kernel.block, (std::array<int64_t, 3>{1, 1, 7}));
  EXPECT_EQ(kernel.axes.size(), 1U);
}

// All loops of a tag become one axis.
TEST_F(KernelBuilder, LoopsOfOneTag) {
  const Stmt two =
      make_seq({thread(i, 8, kThreadX, copy), thread(j, 8, kThreadX, put(y, j, make_float(0)))});
  const Kernel kernel = built(two);
  ASSERT_EQ(kernel.axes.size(), 1U);
  EXPECT_EQ(to_string(kernel.body), "y[threadIdx.x] = a[threadIdx.x]\ny[threadIdx.x] = 0.0\n");
}

TEST_F(KernelBuilder, LoopsOfOneTagAreOfOneExtent) {
  const auto two = [&](int first_line) {
    return make_seq({make_thread_for(i, make_int(8), kThreadX, copy,
                                     first_line > 0 ? line(first_line) : SourceLocation{}),
                     thread(j, 4, kThreadX, put(y, j, make_float(0)), 16)});
  };
  EXPECT_EQ(refused(two(15)),
            "TL3001 te.py:16: threadIdx.x has the extent 4 here, but 8 at te.py:15");
  EXPECT_EQ(refused(two(0)),
            "TL3001 te.py:16: threadIdx.x has the extent 4 here, but 8 at another stage");
}

TEST_F(KernelBuilder, Unbound) {
  EXPECT_EQ(refused(make_for(i, make_int(8), ir::LoopKind::Serial, copy)),
            "TL3003 te.py:4: 'y' is computed at the root but bound to no thread; did you forget to "
            "bind it?");
}

// -- A store that all threads would repeat is done only by the first.

TEST_F(KernelBuilder, RepeatedStores) {
  const Stmt outer = make_seq({put(y, make_int(0), make_float(1)), thread(i, 8, kThreadX, copy)});
  EXPECT_EQ(body(outer),
            "if threadIdx.x == 0 {\n  y[0] = 1.0\n}\ny[threadIdx.x] = a[threadIdx.x]\n");
  const Stmt two = make_seq({put(y, make_int(0), make_float(1)), thread(i, 8, kBlockX, copy),
                             thread(j, 2, kThreadY, put(y, j, make_float(2)))});
  EXPECT_EQ(body(two),
            "if blockIdx.x == 0 && threadIdx.y == 0 {\n  y[0] = 1.0\n}\n"
            "if threadIdx.y == 0 {\n  y[blockIdx.x] = a[blockIdx.x]\n}\n"
            "if blockIdx.x == 0 {\n  y[threadIdx.y] = 2.0\n}\n");
}

TEST_F(KernelBuilder, OneThreadRepeatsNothing) {
  EXPECT_EQ(body(make_seq({put(y, make_int(0), make_float(1)), thread(i, 1, kThreadX, copy)})),
            "y[0] = 1.0\ny[threadIdx.x] = a[threadIdx.x]\n");
}

TEST_F(KernelBuilder, StoresOfTexels) {
  const Buffer t = ir::texture("t", kFloat32, 4, 4);
  const Expr v = make_broadcast(make_float(1), 4);
  EXPECT_EQ(body(make_seq({make_texture_store(t, make_int(0), make_int(0), v),
                           thread(i, 4, kThreadX, make_texture_store(t, i, i, v))})),
            "if threadIdx.x == 0 {\n"
            "  texture2d.store(t, x=0, y=0, x4(1.0): float32x4)\n"
            "}\n"
            "texture2d.store(t, x=threadIdx.x, y=threadIdx.x, x4(1.0): float32x4)\n");
}

// Each thread has its own local buffer.
TEST_F(KernelBuilder, LocalStores) {
  const Stmt alone = make_allocate(l, put(l, make_int(0), make_float(1)));
  EXPECT_EQ(body(make_seq({alone, thread(i, 8, kThreadX, copy)})),
            "{\n  buffer.alloca l: local float32[16]\n  l[0] = 1.0\n}\n"
            "y[threadIdx.x] = a[threadIdx.x]\n");
}

// Each block has one shared buffer. Threads of the loops around its allocation repeat stores if no
// loop inside divides the work among these threads.
TEST_F(KernelBuilder, SharedStores) {
  const Expr q = make_var("q");
  const Stmt by_all = thread(q, 8, kThreadX, put(s, q, at(a, q)));
  const Stmt by_one = put(s, make_int(9), make_float(1));
  const Stmt block = thread(
      j, 4, kBlockX, thread(i, 8, kThreadX, make_allocate(s, make_seq({by_all, by_one, copy}))));
  EXPECT_EQ(body(block),
            "buffer.alloca s: shared float32[16]\n"
            "s[threadIdx.x] = a[threadIdx.x]\n"
            "if threadIdx.x == 0 {\n  s[9] = 1.0\n}\n"
            "y[threadIdx.x] = a[threadIdx.x]\n");
}

// Shared buffers are allocated once, in order, at the top of the kernel.
TEST_F(KernelBuilder, SharedBuffers) {
  const Buffer r = ir::shared("r", kFloat32, 8);
  const Stmt use = thread(j, 8, kThreadX, make_seq({put(s, j, at(r, j)), put(r, j, at(s, j))}));
  const Stmt allocated = make_allocate(s, make_allocate(r, use));
  EXPECT_EQ(body(make_for(i, make_int(4), ir::LoopKind::Serial, make_seq({allocated, allocated}))),
            "buffer.alloca s: shared float32[16]\n"
            "buffer.alloca r: shared float32[8]\n"
            "for i < 4 {\n"
            "  s[threadIdx.x] = r[threadIdx.x]\n"
            "  r[threadIdx.x] = s[threadIdx.x]\n"
            "  s[threadIdx.x] = r[threadIdx.x]\n"
            "  r[threadIdx.x] = s[threadIdx.x]\n"
            "}\n");
}

}  // namespace
}  // namespace texloom::lower
