// Interprets a schedule's computes and the program after each pass: results stay the same, and no
// program has a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/lower/interpreted.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::BinaryOp;
using ir::Expr;
using ir::Exprs;
using ir::kFloat32;
using ir::kInt32;
using ir::Tensor;
using ir::Type;

template <class F>
Values tabulate(size_t count, F value) {
  Values values;
  for (size_t n = 0; n < count; ++n) values.push_back(value(n));
  return values;
}

// Fuses the axes of a stage and binds them to blocks and threads.
void bind_all(Te& te, const Tensor& tensor, int64_t threads, size_t axes) {
  std::vector<ir::IterVar> list;
  for (size_t i = 0; i < axes; ++i) list.push_back(te.axis(tensor, i));
  const ir::IterVar fused = axes == 1 ? list.front() : te.fuse(tensor, list);
  const auto [outer, inner] = te.split(tensor, fused, threads);
  te.bind(tensor, outer, "blockIdx.x");
  te.bind(tensor, inner, "threadIdx.x");
}

// -- Schedules of B = A + 1.

// The README's example: a texture cache and a thread per texel.
TEST(InterpretStages, TextureCache) {
  const Tensor a = placeholder("A", {8, 16}), b = plus_one(a, "B");
  Te te({b});
  const Tensor texture = te.cache_read(a, "texture", {b});
  te.bind(texture, te.axis(texture, 0), "blockIdx.x");
  const auto [outer, inner] = te.split(b, te.axis(b, 1), 4);
  te.bind(b, te.axis(b, 0), "blockIdx.x");
  te.bind(b, outer, "threadIdx.x");
  te.vectorize(b, inner);
  const Values in = numbers(128);
  EXPECT_EQ(
      problems(lowering_of(te, {a, b}), {in}, tabulate(128, [&](size_t n) { return in[n] + 1; })),
      "");
}

// Splits that do not divide and an odd last extent need guards and padding lanes.
TEST(InterpretStages, OddExtents) {
  for (const char* scope : {"texture", "texture:weight", "texture:nhwc", "global"}) {
    const Tensor a = placeholder("A", {5, 3, 7}), b = plus_one(a, "B");
    Te te({b});
    const Tensor cache = te.cache_read(a, scope, {b});
    bind_all(te, cache, 4, 2);
    const auto [io, ii] = te.split(b, te.axis(b, 0), 2);
    const auto [ko, ki] = te.split(b, te.axis(b, 2), 4);
    te.reorder(b, {io, ko, te.axis(b, 1), ii, ki});
    te.bind(b, io, "blockIdx.x");
    te.bind(b, ko, "threadIdx.x");
    te.unroll(b, ki);
    const Values in = numbers(105);
    EXPECT_EQ(
        problems(lowering_of(te, {a, b}), {in}, tabulate(105, [&](size_t n) { return in[n] + 1; })),
        "")
        << scope;
  }
}

// Arguments are textures at different places in larger images.
TEST(InterpretStages, TextureArguments) {
  const Tensor a = placeholder("A", {6, 5, 4}), b = plus_one(a, "B");
  Te te({b});
  bind_all(te, b, 4, 2);
  Lowering lowering = lowering_of(te, {a, b});
  for (Argument& argument : lowering.arguments) {
    argument.declaration = declaration("texture", {6, 5, 4});
    argument.declaration->has_origin = true;
  }
  const Values in = numbers(120);
  EXPECT_EQ(problems(lowering, {in}, tabulate(120, [&](size_t n) { return in[n] + 1; })), "");
}

// -- Reductions.

TEST(InterpretStages, SumOfRows) {
  const Tensor a = placeholder("A", {6, 10});
  const ir::IterVar k = reduce_axis("k", 10);
  const Tensor b =
      compute("B", {6}, [&](const Exprs& i) { return sum(at(a, {i[0], k->var}), {k}); });
  const Values in = numbers(60);
  const Values expected = tabulate(6, [&](size_t row) {
    double total = 0;
    for (size_t n = 0; n < 10; ++n) total += in[row * 10 + n];
    return total;
  });
  Te te({b});
  const auto [ko, ki] = te.split(b, te.reduction(b), 4);
  te.bind(b, te.axis(b, 0), "threadIdx.x");
  te.unroll(b, ki);
  EXPECT_EQ(problems(lowering_of(te, {a, b}), {in}, expected), "");

  Te cached({b});
  const Tensor local = cached.cache_write(b, "local");
  const Tensor texture = cached.cache_read(a, "texture", {local});
  cached.bind(texture, cached.axis(texture, 0), "blockIdx.x");
  const auto [outer, inner] = cached.split(b, cached.axis(b, 0), 4);
  cached.bind(b, outer, "blockIdx.x");
  cached.bind(b, inner, "threadIdx.x");
  cached.compute_at(local, b, inner);
  EXPECT_EQ(problems(lowering_of(cached, {a, b}), {in}, expected), "");
}

struct Matmul {
  int64_t rows = 8, cols = 8, depth = 8;
  Type type = kFloat32;
  Tensor a = placeholder("A", {rows, depth}, type), b = placeholder("B", {depth, cols}, type);
  ir::IterVar k = reduce_axis("k", depth);
  Tensor c = compute("C", {rows, cols}, [this](const Exprs& i) {
    return sum(wide(at(a, {i[0], k->var})) * wide(at(b, {k->var, i[1]})), {k});
  });
  Values a_in = numbers(static_cast<size_t>(rows * depth)),
         b_in = numbers(static_cast<size_t>(depth * cols), 5, 19);

  Expr wide(const Expr& e) const { return type.is_float() ? e : make_cast(kInt32, e); }
  Values product() const {
    return tabulate(static_cast<size_t>(rows * cols), [&](size_t n) {
      double total = 0;
      for (size_t d = 0; d < static_cast<size_t>(depth); ++d) {
        total += a_in[n / static_cast<size_t>(cols) * static_cast<size_t>(depth) + d] *
                 b_in[d * static_cast<size_t>(cols) + n % static_cast<size_t>(cols)];
      }
      return total;
    });
  }
  // Tiles of 4 x 4 outputs; all threads of a block fetch tiles of both inputs into shared memory.
  Te tiled(int64_t steps) const {
    Te te({c});
    const Tensor local = te.cache_write(c, "local");
    const Tensor as = te.cache_read(a, "shared", {local}), bs = te.cache_read(b, "shared", {local});
    const auto [io, ii] = te.split(c, te.axis(c, 0), 4);
    const auto [jo, ji] = te.split(c, te.axis(c, 1), 4);
    te.reorder(c, {io, jo, ii, ji});
    te.bind(c, io, "blockIdx.y");
    te.bind(c, jo, "blockIdx.x");
    te.bind(c, ii, "threadIdx.y");
    te.bind(c, ji, "threadIdx.x");
    te.compute_at(local, c, ji);
    const auto [ko, ki] = te.split(local, te.reduction(local), steps);
    te.reorder(local, {ko, ki, te.axis(local, 0), te.axis(local, 1)});
    for (const Tensor& tile : {as, bs}) {
      te.compute_at(tile, local, ko);
      const auto [yo, yi] = te.split(tile, te.axis(tile, 0), 4);
      const auto [xo, xi] = te.split(tile, te.axis(tile, 1), 4);
      te.reorder(tile, {yo, xo, yi, xi});
      te.bind(tile, yi, "threadIdx.y");
      te.bind(tile, xi, "threadIdx.x");
    }
    return te;
  }
};

// The tiles are in shared memory, with barriers.
TEST(InterpretStages, TiledMatmul) {
  const Matmul even;
  EXPECT_EQ(problems(lowering_of(even.tiled(4), {even.a, even.b, even.c}), {even.a_in, even.b_in},
                     even.product()),
            "");
  const Matmul odd{.rows = 6, .cols = 7, .depth = 5};
  EXPECT_EQ(problems(lowering_of(odd.tiled(4), {odd.a, odd.b, odd.c}), {odd.a_in, odd.b_in},
                     odd.product()),
            "");
}

TEST(InterpretStages, Int8Matmul) {
  const Matmul int8{.rows = 4, .cols = 4, .depth = 6, .type = Type::i(8)};
  EXPECT_EQ(problems(lowering_of(int8.tiled(2), {int8.a, int8.b, int8.c}), {int8.a_in, int8.b_in},
                     int8.product()),
            "");
}

// Without barriers the tiled product races, which shows that the barriers are needed.
TEST(InterpretStages, TiledMatmulWithoutBarriers) {
  const Matmul m;
  ir::Program program = lower(lowering_of(m.tiled(4), {m.a, m.b, m.c})).program;
  for (ir::Kernel& kernel : program.kernels) {
    kernel.body =
        rewrite(kernel.body, [](const ir::Barrier&, const ir::Stmt&) { return ir::make_empty(); });
  }
  EXPECT_THAT(problem(program, {m.a_in, m.b_in}, m.product()),
              ::testing::HasSubstr("with no barrier between"));
}

// -- Element types.

TEST(InterpretStages, Int8Wraps) {
  const Tensor a = placeholder("A", {16}, Type::i(8));
  const Tensor b = compute("B", {16}, [&](const Exprs& i) { return at(a, i) * at(a, i); });
  Te te({b});
  bind_all(te, b, 4, 1);
  const Values in = tabulate(16, [](size_t n) { return static_cast<double>(n * 16) - 128; });
  const Values expected = tabulate(16, [&](size_t n) {
    const int product = static_cast<int>(in[n]) * static_cast<int>(in[n]);
    return static_cast<double>(static_cast<int8_t>(product));
  });
  EXPECT_EQ(problems(lowering_of(te, {a, b}), {in}, expected), "");
}

// Each product and each sum rounds to float16.
TEST(InterpretStages, Float16Rounds) {
  const Tensor a = placeholder("A", {8, 4}, Type::f(16));
  const ir::IterVar k = reduce_axis("k", 4);
  const Tensor b = compute("B", {8}, [&](const Exprs& i) {
    return sum(at(a, {i[0], k->var}) * at(a, {i[0], k->var}), {k});
  });
  Te te({b});
  const Tensor texture = te.cache_read(a, "texture", {b});
  te.bind(texture, te.axis(texture, 0), "blockIdx.x");
  bind_all(te, b, 4, 1);
  const Values in = tabulate(32, [](size_t n) {
    return double{static_cast<_Float16>(1.0 + 0.37 * static_cast<double>(n))};
  });
  const Values expected = tabulate(8, [&](size_t row) {
    _Float16 total = 0;
    for (size_t n = 0; n < 4; ++n) {
      const auto value = static_cast<_Float16>(in[row * 4 + n]);
      total = static_cast<_Float16>(total + static_cast<_Float16>(value * value));
    }
    return double{total};
  });
  EXPECT_EQ(problems(lowering_of(te, {a, b}), {in}, expected), "");
}

// A select in a local copy is also computed past the last element, where nothing reads it.
TEST(InterpretStages, SelectOutsideATexture) {
  const Tensor a = placeholder("A", {6, 4});
  const Tensor relu = compute("R", {6, 4}, [&](const Exprs& i) {
    return make_select(ir::make_float(0) < at(a, i), at(a, i), ir::make_float(0));
  });
  const Tensor b = plus_one(relu, "B");
  Te te({b});
  te.set_scope(relu, "local");
  const auto [outer, inner] = te.split(b, te.axis(b, 0), 4);
  te.bind(b, outer, "blockIdx.x");
  te.bind(b, te.axis(b, 1), "threadIdx.x");
  te.reorder(b, {outer, te.axis(b, 1), inner});
  te.compute_at(relu, b, te.axis(b, 1));
  Lowering lowering = lowering_of(te, {a, b});
  lowering.arguments[0].declaration = declaration("texture", {6, 4});
  const Values in = numbers(24);
  EXPECT_EQ(
      problems(lowering, {in}, tabulate(24, [&](size_t n) { return std::max(in[n], 0.0) + 1; })),
      "");
}

}  // namespace
}  // namespace texloom::lower
