// Tests printing the text of a schedule.
#include "schedule/text/print.h"

#include <gtest/gtest.h>

#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::IterVar;
using ir::Tensor;

TEST(PrintSchedule, PlainStages) {
  const Tensor a = placeholder("A", {8, 6}, ir::Type::i(8));
  const IterVar k = reduce_axis("k", 6);
  const Tensor b =
      compute("B", {8}, [&](const Exprs& i) { return sum(at(a, {i[0], k->var}), {k}); });
  EXPECT_EQ(to_string(Te({b}).s),
            "placeholder A: int8[8, 6]\n"
            "\n"
            "compute B(i < 8): int8 = reduce(sum, [k < 6], A[i, k])\n"
            "  output\n");
}

TEST(PrintSchedule, LoopsAndPlaces) {
  const Tensor a = placeholder("A", {8, 6});
  const Tensor b = plus_one(a, "B"), c = plus_one(b, "C"), d = plus_one(c, "D");
  Te te({d});
  const auto [outer, inner] = te.split(d, te.axis(d, 1), 3);
  const auto parts = te.split_nparts(d, inner, 1);
  const IterVar fused = te.fuse(d, {te.axis(d, 0), outer});
  te.bind(d, fused, "blockIdx.x");
  te.unroll(d, parts.outer);
  te.vectorize(d, parts.inner);
  te.compute_at(c, d, fused);
  te.compute_inline(b);
  te.s.annotate(te.id(c), te.axis(c, 0), ir::LoopKind::Serial, line(5));
  EXPECT_EQ(to_string(te.s),
            "placeholder A: float32[8, 6]\n"
            "\n"
            "compute B(i < 8, j < 6): float32 = A[i, j] + 1.0\n"
            "  inline\n"
            "\n"
            "compute C(i < 8, j < 6): float32 = B[i, j] + 1.0\n"
            "  compute_at D, i.j.outer.fused\n"
            "  serial i\n"
            "\n"
            "compute D(i < 8, j < 6): float32 = C[i, j] + 1.0\n"
            "  output\n"
            "  split j factor=3 -> j.outer, j.inner\n"
            "  split j.inner nparts=1 -> j.inner.outer, j.inner.inner\n"
            "  fuse i, j.outer -> i.j.outer.fused\n"
            "  bind i.j.outer.fused blockIdx.x\n"
            "  unroll j.inner.outer\n"
            "  vectorize j.inner.inner\n");
}

TEST(PrintSchedule, FactorOne) {
  const Tensor a = placeholder("A", {8}), b = plus_one(a, "B");
  Te te({b});
  te.split(b, te.axis(b, 0), 1);
  EXPECT_NE(to_string(te.s).find("split i factor=1 -> i.outer, i.inner\n"), std::string::npos);
}

TEST(PrintSchedule, Layouts) {
  const Tensor a = placeholder("A", {8, 4}), b = plus_one(a, "B");
  Te te({b});
  te.s.set_scope(te.id(b), "texture", line(5), "texture[(h, c) -> rows=h, lanes=c]");
  EXPECT_EQ(to_string(te.s),
            "placeholder A: float32[8, 4]\n"
            "\n"
            "compute B(i < 8, j < 4): float32 = A[i, j] + 1.0\n"
            "  output\n"
            "  scope texture layout=texture[(h, c) -> rows=(h), cols=(), lanes=(c)]\n");
}

// In the text, relations that a transform uses are before it, and other relations are after it.
TEST(PrintSchedule, Transforms) {
  const Tensor a = placeholder("A", {8, 4}), b = plus_one(a, "B");
  Te te({b});
  const Exprs axes = {ir::make_var("h"), ir::make_var("c")};
  const auto transform = [&](const Tensor& t, const Exprs& indices,
                             std::vector<size_t> separators) {
    return te.s.transform_layout(te.id(t), axes, indices, std::move(separators), line(6));
  };
  transform(a, {axes[1], axes[0]}, {0, 1, 2});
  const auto loops =
      transform(b, {axes[1], ir::make_int(0), floordiv(axes[0], 2) * 2 + floormod(axes[0], 2)}, {});
  te.split(b, loops.front(), 2);
  EXPECT_EQ(to_string(te.s),
            "placeholder A: float32[8, 4]\n"
            "  transform (d0, d1) -> (|, d1, |, d0, |)\n"
            "\n"
            "compute B(i < 8, j < 4): float32 = A[i, j] + 1.0\n"
            "  output\n"
            "  fuse -> singleton\n"
            "  split i factor=2 exact -> i.outer, i.inner\n"
            "  fuse i.outer, i.inner -> i.outer.i.inner.fused\n"
            "  transform (d0, d1) -> (d1, (), (d0/2, d0%2))\n"
            "  split j factor=2 -> j.outer, j.inner\n"
            "  reorder j.outer, j.inner, singleton, i.outer.i.inner.fused\n");
}

TEST(PrintSchedule, Scalars) {
  const Tensor a = placeholder("A", {});
  const Tensor b = plus_one(a, "B");
  Te te({b});
  te.set_scope(b, "texture");
  EXPECT_EQ(to_string(te.s),
            "placeholder A: float32[]\n"
            "\n"
            "compute B(): float32 = A[] + 1.0\n"
            "  output\n"
            "  scope texture\n");
}

}  // namespace
}  // namespace texloom::schedule
