// Reductions as loops: initialization, update and their guards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Exprs;
using ir::IterVar;
using ir::Tensor;
using ::testing::HasSubstr;

std::string built_reductions(const Te& te, const std::vector<Tensor>& arguments) {
  return after("build_loops", te, arguments);
}

// C(i, j) = the sum of A(i, k) over k.
class BuildReductions : public ::testing::Test {
 protected:
  std::string all() const { return built_reductions(te, {a, c}); }

  IterVar k = reduce_axis("k", 10);
  Tensor a = placeholder("A", {4, 10});
  Tensor c =
      compute("C", {4, 6}, [this](const Exprs& x) { return sum(at(a, {x[0], k->var}), {k}); });
  Te te{{c}};
  IterVar i = te.axis(c, 0), j = te.axis(c, 1);
};

TEST_F(BuildReductions, InitializedBeforeTheFirstReductionLoop) {
  EXPECT_EQ(all(),
            "nest C {\n"
            "  for i < 4 {\n"
            "    for j < 6 {\n"
            "      C[i, j] = 0.0\n"
            "      for k < 10 {\n"
            "        C[i, j] = C[i, j] + A[i, k]\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// Data loops inside the reduction are repeated for the initialization, with their own variables.
TEST_F(BuildReductions, DataLoopsInside) {
  te.reorder(c, {k, i, j});
  te.unroll(c, j);
  EXPECT_EQ(all(),
            "nest C {\n"
            "  for i.init < 4 {\n"
            "    unrolled j.init < 6 {\n"
            "      C[i.init, j.init] = 0.0\n"
            "    }\n"
            "  }\n"
            "  for k < 10 {\n"
            "    for i < 4 {\n"
            "      unrolled j < 6 {\n"
            "        C[i, j] = C[i, j] + A[i, k]\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST_F(BuildReductions, ReductionLoopBetween) {
  te.reorder(c, {i, k, j});
  EXPECT_EQ(all(),
            "nest C {\n"
            "  for i < 4 {\n"
            "    for j.init < 6 {\n"
            "      C[i, j.init] = 0.0\n"
            "    }\n"
            "    for k < 10 {\n"
            "      for j < 6 {\n"
            "        C[i, j] = C[i, j] + A[i, k]\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// Guards of data axes apply to initialization and update, guards of the reduction to the update.
TEST_F(BuildReductions, Guards) {
  te.split(c, i, 3);
  te.split(c, k, 4);
  EXPECT_EQ(all(),
            "nest C {\n"
            "  for i.outer < 2 {\n"
            "    for i.inner < 3 {\n"
            "      for j < 6 {\n"
            "        if i.outer * 3 + i.inner < 4 {\n"
            "          C[i.outer * 3 + i.inner, j] = 0.0\n"
            "        }\n"
            "        for k.outer < 3 {\n"
            "          for k.inner < 4 {\n"
            "            if i.outer * 3 + i.inner < 4 && k.outer * 4 + k.inner < 10 {\n"
            "              C[i.outer * 3 + i.inner, j] = C[i.outer * 3 + i.inner, j] + "
            "A[i.outer * 3 + i.inner, k.outer * 4 + k.inner]\n"
            "            }\n"
            "          }\n"
            "        }\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST_F(BuildReductions, Conditions) {
  const Tensor d = compute("D", {4}, [&](const Exprs& x) {
    return reduce(schedule::Reduction::Max, at(a, {x[0], k->var}),
                  {{k}, at(a, {x[0], k->var}) < ir::make_float(5)}, line(4));
  });
  Te own({d});
  own.split(d, k, 4);
  EXPECT_EQ(built_reductions(own, {a, d}),
            "nest D {\n"
            "  for i < 4 {\n"
            "    D[i] = -3.4028235e+38\n"
            "    for k.outer < 3 {\n"
            "      for k.inner < 4 {\n"
            "        if k.outer * 4 + k.inner < 10 && A[i, k.outer * 4 + k.inner] < 5.0 {\n"
            "          D[i] = max(D[i], A[i, k.outer * 4 + k.inner])\n"
            "        }\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// The loops end after the last step that the condition allows: k runs to 4, and j starts at k.
TEST_F(BuildReductions, EndWhereTheConditionDoes) {
  const IterVar j4 = reduce_axis("j", 4);
  const Tensor rows = placeholder("A", {10, 4});
  const Tensor upper = compute("U", {1}, [&](const Exprs&) {
    return sum(at(rows, {k->var, j4->var}), {k, j4}, k->var <= j4->var);
  });
  EXPECT_THAT(built_reductions(Te({upper}), {rows, upper}), HasSubstr("for k < 4 {"));
  const Tensor lower = compute("L", {1}, [&](const Exprs&) {
    return sum(at(rows, {k->var, j4->var}), {k, j4}, j4->var <= k->var);
  });
  EXPECT_THAT(built_reductions(Te({lower}), {rows, lower}), HasSubstr("for j < min(4, k + 1) {"));
}

TEST_F(BuildReductions, OfEverything) {
  const IterVar r = reduce_axis("r", 4);
  const Tensor d =
      compute("D", {}, [&](const Exprs&) { return sum(at(a, {r->var, k->var}), {r, k}); });
  EXPECT_EQ(built_reductions(Te({d}), {a, d}),
            "nest D {\n"
            "  thread<blockIdx.x> one < 1 {\n"
            "    D[] = 0.0\n"
            "    for r < 4 {\n"
            "      for k < 10 {\n"
            "        D[] = D[] + A[r, k]\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// Stages attached to the reduction loop are inside it, not in the initialization.
TEST_F(BuildReductions, AttachedStages) {
  const Tensor cache = te.cache_read(a, "local", {c});
  te.compute_at(cache, c, k);
  te.reorder(c, {k, j});
  EXPECT_EQ(all(),
            "nest C {\n"
            "  for i < 4 {\n"
            "    for j.init < 6 {\n"
            "      C[i, j.init] = 0.0\n"
            "    }\n"
            "    for k < 10 {\n"
            "      buffer.alloca A.local: local float32[1, 1]\n"
            "      for ax0 < 1 {\n"
            "        for ax1 < 1 {\n"
            "          A.local[0, 0] = A[i, k]\n"
            "        }\n"
            "      }\n"
            "      for j < 6 {\n"
            "        C[i, j] = C[i, j] + A.local[0, 0]\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// An accumulator in registers needs a guard for the reduction, but not for the data axes.
TEST_F(BuildReductions, LocalAccumulators) {
  const Tensor wide = placeholder("A", {6, 10});
  const Tensor d =
      compute("D", {4}, [&](const Exprs& x) { return sum(at(wide, {x[0], k->var}), {k}); });
  Te own({d});
  const Tensor cache = own.cache_write(d, "local");
  const auto [outer, inner] = own.split(d, own.axis(d, 0), 3);
  own.compute_at(cache, d, outer);
  own.split(cache, k, 5);
  EXPECT_EQ(built_reductions(own, {wide, d}),
            "nest D {\n"
            "  for i.outer < 2 {\n"
            "    buffer.alloca D.local: local float32[3]\n"
            "    for i.c < 3 {\n"
            "      D.local[i.c] = 0.0\n"
            "      for k.outer < 2 {\n"
            "        for k.inner < 5 {\n"
            "          D.local[i.c] = D.local[i.c] + A[i.outer * 3 + i.c, k.outer * 5 + k.inner]\n"
            "        }\n"
            "      }\n"
            "    }\n"
            "    for i.inner < 3 {\n"
            "      if i.outer * 3 + i.inner < 4 {\n"
            "        D[i.outer * 3 + i.inner] = D.local[i.inner]\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// A condition that reads out of bounds keeps the guard of the data axes, in any scope.
TEST(BuildReductionsOutside, ConditionsThatRead) {
  const Tensor x = placeholder("X", {10}), m = placeholder("M", {4, 10});
  const IterVar k = reduce_axis("k", 10);
  const Tensor d = compute("D", {4}, [&](const Exprs& at_i) {
    return sum(at(x, {k->var}), {k}, at(m, {at_i[0], k->var}) < ir::make_float(1));
  });
  Te te({d});
  const Tensor cache = te.cache_write(d, "local");
  const auto [outer, inner] = te.split(d, te.axis(d, 0), 3);
  te.compute_at(cache, d, outer);
  const std::string text = built_reductions(te, {x, m, d});
  EXPECT_NE(text.find("if i.outer * 3 + i.c < 4 && M[i.outer * 3 + i.c, k] < 1.0"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace texloom::lower
