// Tests the parameters of kernels, and the limits of targets.
#include <gtest/gtest.h>

#include "lower/kernels/kernel_builder.h"
#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::Kernel;
using ir::kFloat32;
using ir::lane;
using ir::make_float;
using ir::make_int;
using ir::make_seq;
using ir::make_texture;
using ir::make_var;
using ir::put;
using ir::Stmt;
using ir::texel;
using schedule::testing::faults;
using schedule::testing::line;

class KernelParams : public ::testing::Test {
 protected:
  Kernel built(const Stmt& body, int64_t threads = 8) const {
    const Stmt loop = make_thread_for(i, make_int(threads), {false, 0}, body, line(15));
    return build_kernel("k", *as<ir::Nest>(make_nest(y, loop, line(4))), {}, target);
  }
  std::string refused(const Stmt& body, int64_t threads = 8) const {
    return faults([&] { built(body, threads); });
  }
  // "name access" for each parameter.
  std::string params(const Stmt& body) const {
    std::string text;
    for (const ir::KernelParam& p : built(body).params) {
      text += (text.empty() ? "" : ", ") + (p.buffer ? p.buffer->name : to_string(p.scalar));
      text += " " + std::string(to_string(p.access));
    }
    return text;
  }
  static Buffer image(std::string name) {
    return make_texture(std::move(name), kFloat32,
                        texture_layout({4, 4, 4}, ir::TextureRule::Activation), {}, line(21));
  }

  ir::Target target;
  Expr i = make_var("i"), ones = make_broadcast(make_float(1), 4);
  Buffer a = ir::global("a", kFloat32, 64), b = ir::global("b", kFloat32, 64);
  Buffer y = ir::global("y", kFloat32, 64), z = ir::global("z", kFloat32, 64);
  Buffer l = ir::local("l", kFloat32, 4);
  Buffer t = image("t"), u = image("u");
};

// Parameters are in order of first use: first the buffers that are read, then the written ones.
TEST_F(KernelParams, Order) {
  EXPECT_EQ(params(make_seq({put(y, i, at(b, i) + at(a, i)), put(z, i, at(b, i))})),
            "b read, a read, y write, z write");
}

TEST_F(KernelParams, ReadAndWritten) {
  EXPECT_EQ(params(make_seq({put(z, i, at(a, i)), put(y, i, at(y, i)), put(y, i, at(z, i))})),
            "a read, y read_write, z read_write");
}

TEST_F(KernelParams, OwnMemoryIsNone) {
  EXPECT_EQ(params(make_allocate(
                l, make_seq({put(l, make_int(0), at(a, i)), put(y, i, at(l, make_int(0)))}))),
            "a read, y write");
}

TEST_F(KernelParams, Textures) {
  EXPECT_EQ(params(make_seq({make_texture_store(u, i, i, texel(t, i, i)), put(y, i, at(a, i))})),
            "t read, a read, u write, y write");
  EXPECT_EQ(refused(make_texture_store(t, i, i, texel(t, i, i))),
            "TL3012 te.py:21: the kernel 'k' would read and write the texture 't'");
}

// Origins are scalars after all buffers.
TEST_F(KernelParams, Origins) {
  const Buffer o = make_texture("o", kFloat32, t->layout, {make_var("o.x"), make_var("o.y")});
  EXPECT_EQ(params(make_seq({put(y, i, lane(texel(o, i, i), 0)), put(z, i, at(a, i))})),
            "o read, a read, y write, z write, o.x read, o.y read");
}

// -- Limits.

TEST_F(KernelParams, Threads) {
  target.limits.max_threads = 8;
  EXPECT_EQ(refused(put(y, i, at(a, i))), "");
  target.limits.max_threads = 7;
  EXPECT_EQ(refused(put(y, i, at(a, i))).substr(0, 16), "TL4001 te.py:15:");
  const Expr j = make_var("j"), m = make_var("m");
  const Stmt cube = make_thread_for(
      j, make_int(3), {false, 1},
      make_thread_for(m, make_int(2), {false, 2}, put(y, i + j + m, make_float(0)), line(16)));
  target.limits.max_threads = 47;
  EXPECT_EQ(refused(cube),
            "TL4001 te.py:16: the kernel 'k' has blocks of 8 x 3 x 2 = 48 threads; the target "
            "'opencl -max_num_threads=47' allows 47");
  target.limits.max_threads = 48;
  EXPECT_EQ(refused(cube), "");
}

// Blocks of the grid do not count as threads.
TEST_F(KernelParams, BlocksAreNotLimited) {
  target.limits.max_threads = 8;
  const Expr j = make_var("j");
  EXPECT_EQ(refused(make_thread_for(j, make_int(99), {true, 0}, put(y, i + j, make_float(0)))), "");
}

TEST_F(KernelParams, SharedMemory) {
  const Buffer s = ir::make_buffer("s", kFloat32, {16}, ir::MemoryScope::Shared, line(4));
  const Buffer h = ir::make_buffer("h", ir::Type::f(16), {3, 2}, ir::MemoryScope::Shared, line(5));
  const Stmt body = make_allocate(s, make_allocate(h, put(y, i, at(a, i))));
  target.limits.local_memory_bytes = 76;
  EXPECT_EQ(refused(body), "");
  target.limits.local_memory_bytes = 75;
  EXPECT_EQ(refused(body),
            "TL4004 te.py:4: the shared buffers of the kernel 'k' need 76 bytes, 's' most of them; "
            "a block on the target 'opencl -max_local_memory=75' is allowed 75");
}

// The arrays of one thread are limited, and so are those of all eight threads together (2 MiB).
TEST_F(KernelParams, PrivateMemory) {
  const auto with = [&](int64_t elements) {
    const Buffer p = ir::make_buffer("p", kFloat32, {elements}, ir::MemoryScope::Local, line(4));
    return refused(make_allocate(p, put(y, i, at(a, i))));
  };
  EXPECT_EQ(with(65536), "");
  EXPECT_EQ(with(65537),
            "TL4004 te.py:4: the local buffers of the kernel 'k' need 262148 bytes, 'p' most of "
            "them; each of the block's 8 threads on the target 'opencl' is allowed 262144");
  target.limits.private_memory_bytes = 1 << 30;
  EXPECT_EQ(with(65536), "");
  EXPECT_EQ(with(65537).substr(0, 16), "TL4004 te.py:4: ");
  target.device_class = ir::DeviceClass::Gpu;
  EXPECT_EQ(with(65537), "");
  target.limits.private_memory_bytes = 400;
  EXPECT_EQ(with(100), "");
  EXPECT_EQ(with(101).substr(0, 16), "TL4004 te.py:4: ");
}

TEST_F(KernelParams, ThreadsAlongZ) {
  const Expr m = make_var("m");
  const auto deep = [&](int64_t extent) {
    return make_thread_for(m, make_int(extent), {false, 2}, put(y, i + m, make_float(0)), line(16));
  };
  EXPECT_EQ(refused(deep(64)), "");
  EXPECT_EQ(refused(deep(65)),
            "TL4001 te.py:16: the kernel 'k' has blocks of 65 threads along z; the target 'opencl' "
            "allows 64");
}

TEST_F(KernelParams, Images) {
  const Buffer v = image("v");
  const Stmt reads_two = make_texture_store(v, i, i, texel(t, i, i) + texel(u, i, i));
  target.limits.max_image_reads = 2;
  target.limits.max_image_writes = 1;
  EXPECT_EQ(refused(reads_two), "");
  target.limits.max_image_reads = 1;
  EXPECT_EQ(refused(reads_two).substr(0, 50), "TL4006 te.py:4: the kernel 'k' reads 2 textures; t");
  const Stmt writes_two =
      make_seq({make_texture_store(u, i, i, texel(t, i, i)), make_texture_store(v, i, i, ones)});
  EXPECT_EQ(refused(writes_two).substr(0, 51),
            "TL4006 te.py:4: the kernel 'k' writes 2 textures; t");
  target.limits.max_image_writes = 2;
  EXPECT_EQ(refused(writes_two), "");
  // Only textures count toward these limits, not buffers.
  target.limits.max_image_reads = 0;
  target.limits.max_image_writes = 0;
  EXPECT_EQ(refused(put(y, i, at(a, i))), "");
}

}  // namespace
}  // namespace texloom::lower
