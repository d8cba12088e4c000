// The loops of interior tiles contain no divisions and no index tests, in matrix products and
// convolutions through buffers, textures and folded textures, whether or not tiles divide the
// extents. To print the table, run build/tests/lower_tests --gtest_filter='InnerLoops.*'

#include <gtest/gtest.h>

#include "tests/lower/build/loop_counts.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Exprs;
using ir::make_int;
using ir::Tensor;

// Each thread computes a tile of 4 x 4, and a block has 8 x 8 threads. The reduction is split by 4.
Lowering matmul(int64_t extent, std::string_view scope) {
  const Tensor a = placeholder("A", {extent, extent}), b = placeholder("B", {extent, extent});
  const ir::IterVar k = reduce_axis("k", extent);
  const Tensor c = compute("C", {extent, extent}, [&](const Exprs& i) {
    return sum(at(a, {i[0], k->var}) * at(b, {k->var, i[1]}), {k});
  });
  Te te({c});
  const Tensor local = te.cache_write(c, "local");
  for (const Tensor& input : {a, b}) {
    if (scope == "global") continue;
    const Tensor cache = te.cache_read(input, scope, {local});
    const auto [outer, inner] = te.split(cache, te.axis(cache, 0), 8);
    te.bind(cache, outer, "blockIdx.x");
    te.bind(cache, inner, "threadIdx.x");
  }
  const auto [block_y, in_block_y] = te.split(c, te.axis(c, 0), 32);
  const auto [block_x, in_block_x] = te.split(c, te.axis(c, 1), 32);
  const auto [thread_y, tile_y] = te.split(c, in_block_y, 4);
  const auto [thread_x, tile_x] = te.split(c, in_block_x, 4);
  te.reorder(c, {block_y, block_x, thread_y, thread_x, tile_y, tile_x});
  te.bind(c, block_y, "blockIdx.y");
  te.bind(c, block_x, "blockIdx.x");
  te.bind(c, thread_y, "threadIdx.y");
  te.bind(c, thread_x, "threadIdx.x");
  te.compute_at(local, c, thread_x);
  const auto [ko, ki] = te.split(local, te.reduction(local), 4);
  te.reorder(local, {ko, ki, te.axis(local, 0), te.axis(local, 1)});
  te.unroll(local, ki);
  te.unroll(local, te.axis(local, 0));
  te.vectorize(local, te.axis(local, 1));
  return lowering_of(te, {a, b, c});
}

// A 3 x 3 convolution, padded by one, of [channels / 4, extent, extent, 4]. Each thread computes 4
// pixels of a row, and a block has 8 x 8 threads.
Lowering convolution(int64_t channels, int64_t extent, std::string_view scope,
                     std::string_view weight_scope) {
  const Tensor data = placeholder("data", {channels / 4, extent, extent, 4});
  const Tensor weight = placeholder("weight", {channels / 4, channels, 9, 4});
  const Tensor padded =
      compute("padded", {channels / 4, extent + 2, extent + 2, 4}, [&](const Exprs& i) {
        const ir::Expr inside = i[1] >= make_int(1) && i[1] < make_int(extent + 1) &&
                                i[2] >= make_int(1) && i[2] < make_int(extent + 1);
        return make_select(inside, at(data, {i[0], i[1] - 1, i[2] - 1, i[3]}), ir::make_float(0));
      });
  const ir::IterVar c = reduce_axis("c", channels), ky = reduce_axis("ky", 3),
                    kx = reduce_axis("kx", 3);
  const Tensor out = compute("out", {channels / 4, extent, extent, 4}, [&](const Exprs& i) {
    return sum(
        at(padded, {floordiv(c->var, 4), i[1] + ky->var, i[2] + kx->var, floormod(c->var, 4)}) *
            at(weight, {i[0], c->var, ky->var * 3 + kx->var, i[3]}),
        {c, ky, kx});
  });
  Te te({out});
  const Tensor local = te.cache_write(out, "local");
  te.compute_inline(padded);
  const auto [block_y, thread_y] = te.split(out, te.axis(out, 1), 8);
  const auto [block_x, in_block_x] = te.split(out, te.axis(out, 2), 32);
  const auto [thread_x, tile_x] = te.split(out, in_block_x, 4);
  te.reorder(out, {te.axis(out, 0), block_y, block_x, thread_y, thread_x, tile_x, te.axis(out, 3)});
  te.bind(out, te.axis(out, 0), "blockIdx.z");
  te.bind(out, block_y, "blockIdx.y");
  te.bind(out, block_x, "blockIdx.x");
  te.bind(out, thread_y, "threadIdx.y");
  te.bind(out, thread_x, "threadIdx.x");
  te.compute_at(local, out, thread_x);
  const auto [co, ci] = te.split(local, te.reduction(local, 0), 4);
  te.reorder(local, {co, te.reduction(local, 1), te.reduction(local, 2), ci, te.axis(local, 2),
                     te.axis(local, 3)});
  te.unroll(local, ci);
  te.unroll(local, te.axis(local, 2));
  te.vectorize(local, te.axis(local, 3));
  Lowering lowering = lowering_of(te, {data, weight, out});
  lowering.arguments[0].declaration = declaration(scope, {channels / 4, extent, extent, 4});
  lowering.arguments[1].declaration = declaration(weight_scope, {channels / 4, channels, 9, 4});
  return lowering;
}

void expect_nothing(const std::string& name, Lowering lowering, int64_t image_size = 8192) {
  lowering.target.limits.max_image_size = image_size;
  const ir::Program program = lower(std::move(lowering)).program;
  const LoopCounts counts = LoopCounter::of(program);
  fmt::print("{:40} {:6} loops {:6} divisions {:6} tests\n", name, counts.loops, counts.divisions,
             counts.tests);
  EXPECT_GT(counts.loops, 0) << name;
  EXPECT_EQ(counts.divisions, 0) << name << "\n" << to_string(program);
  EXPECT_EQ(counts.tests, 0) << name << "\n" << to_string(program);
}

TEST(InnerLoops, Matmul) {
  expect_nothing("128 x 128, buffers", matmul(128, "global"));
  expect_nothing("128 x 128, textures", matmul(128, "texture"));
  expect_nothing("128 x 128, textures:weight", matmul(128, "texture:weight"));
  expect_nothing("130 x 130, textures", matmul(130, "texture"));
  expect_nothing("130 x 130, buffers", matmul(130, "global"));
}

// Images have at most 64 x 64 texels, so 128 rows of 32 texels are folded.
TEST(InnerLoops, FoldedMatmul) {
  expect_nothing("128 x 128, folded", matmul(128, "texture"), 64);
  expect_nothing("130 x 130, folded", matmul(130, "texture"), 80);
}

TEST(InnerLoops, Convolution) {
  expect_nothing("32 @ 256, textures", convolution(32, 256, "texture", "texture:weight"));
  expect_nothing("32 @ 256, buffers", convolution(32, 256, "global", "global"));
  expect_nothing("32 @ 260, textures", convolution(32, 260, "texture", "texture:weight"));
}

TEST(InnerLoops, FoldedConvolution) {
  expect_nothing("32 @ 256, folded", convolution(32, 256, "texture", "texture:weight"), 1200);
  expect_nothing("32 @ 260, folded", convolution(32, 260, "texture", "texture:weight"), 1200);
}

}  // namespace
}  // namespace texloom::lower
