// The text of a schedule.
#include "schedule/print.h"

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
