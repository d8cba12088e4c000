// Scans: their values before and after every pass, and their errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/operation/scan_operation.h"
#include "tests/lower/interpreted.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Exprs;
using ir::Tensor;
using schedule::make_scan;

Tensor scan_of(const Tensor& init, const Tensor& update, const Tensor& state) {
  return output_of(make_scan("S", "S.idx", "", {{init, update, state}}, line(6)));
}

// Each row is the previous row plus a row of A.
struct Sums {
  Tensor a = placeholder("A", {4, 8});
  Tensor state = placeholder("R", {4, 8});
  Tensor init = compute("I", {1, 8}, [this](const Exprs& i) { return at(a, i); });
  Tensor update = compute(
      "U", {4, 8}, [this](const Exprs& i) { return at(state, {i[0] - 1, i[1]}) + at(a, i); });
  Tensor scan = scan_of(init, update, state);

  Te bound() const {
    Te te({scan});
    for (const Tensor& t : {init, update}) {
      const auto [outer, inner] = te.split(t, te.axis(t, 1), 4);
      te.bind(t, outer, "blockIdx.x");
      te.bind(t, inner, "threadIdx.x");
    }
    return te;
  }
};

// Each row is W times the previous row.
struct Products {
  Tensor a = placeholder("A", {1, 6}), w = placeholder("W", {6, 6});
  Tensor state = placeholder("R", {4, 6});
  ir::IterVar k = reduce_axis("k", 6);
  Tensor init = compute("I", {1, 6}, [this](const Exprs& i) { return at(a, i); });
  Tensor product = compute("P", {4, 6}, [this](const Exprs& i) {
    return sum(at(w, {i[1], k->var}) * at(state, {i[0] - 1, k->var}), {k});
  });
  Tensor update = compute("U", {4, 6}, [this](const Exprs& i) { return at(product, i); });
  Tensor scan = scan_of(init, update, state);
};

Values columns_summed(const Values& a, size_t columns) {
  Values sums = a;
  for (size_t i = columns; i < sums.size(); ++i) sums[i] += sums[i - columns];
  return sums;
}

Values products(const Values& a, const Values& w) {
  Values rows = a;
  for (size_t t = 1; t < 4; ++t) {
    for (size_t i = 0; i < 6; ++i) {
      double sum = 0;
      for (size_t k = 0; k < 6; ++k) sum += w[i * 6 + k] * rows[(t - 1) * 6 + k];
      rows.push_back(sum);
    }
  }
  return rows;
}

TEST(Scans, EachThreadGoesOnFromItsOwnColumn) {
  const Sums sums;
  const Te te = sums.bound();
  const Lowering lowering = lowering_of(te, {sums.a});
  const Values a = numbers(32);
  EXPECT_EQ(problems(lowering, {a}, columns_summed(a, 8)), "");
  const std::string text = to_string(lower(lowering).program);
  EXPECT_THAT(text, ::testing::HasSubstr("  for S.idx < 3 {\n    S[S.idx * 8 + "));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("barrier")));
}

TEST(Scans, ThreadsOfOneBlockMeetAfterEachStep) {
  const Products p;
  Te te({p.scan});
  te.bind(p.init, te.axis(p.init, 1), "threadIdx.x");
  te.bind(p.update, te.axis(p.update, 1), "threadIdx.x");
  te.compute_at(p.product, p.update, te.axis(p.update, 1));
  const Lowering lowering = lowering_of(te, {p.a, p.w});
  const Values a = numbers(6), w = numbers(36, 5, 3);
  EXPECT_EQ(problems(lowering, {a, w}, products(a, w)), "");
  EXPECT_THAT(to_string(lower(lowering).program), ::testing::HasSubstr("    barrier\n  }\n"));
}

TEST(Scans, StagesOfAStepShareMemory) {
  const Products p;
  Te te({p.scan});
  for (const Tensor& t : {p.init, p.product, p.update}) {
    te.bind(t, te.axis(t, 1), "threadIdx.x");
  }
  te.set_scope(p.product, "shared");
  const Values a = numbers(6), w = numbers(36, 5, 3);
  EXPECT_EQ(problems(lowering_of(te, {p.a, p.w}), {a, w}, products(a, w)), "");
}

// Blocks of one launch cannot wait for each other, so each step is a launch.
TEST(Scans, LaunchesOfSteps) {
  const Products p;
  Te te({p.scan});
  te.bind(p.init, te.axis(p.init, 1), "threadIdx.x");
  te.bind(p.update, te.axis(p.update, 1), "blockIdx.x");
  te.compute_at(p.product, p.update, te.axis(p.update, 1));
  const Values a = numbers(6), w = numbers(36, 5, 3);
  const Lowering lowering = lowering_of(te, {p.a, p.w});
  EXPECT_EQ(problems(lowering, {a, w}, products(a, w)), "");
  EXPECT_THAT(to_string(lower(lowering).program), ::testing::HasSubstr("for S.idx < 3 {\n"));
}

// The unscheduled program runs the init first; then each step computes one row of each stage.
TEST(Scans, AsTheyStand) {
  const Products p;
  const Lowering lowering = lowering_of(Te({p.scan}), {p.a, p.w});
  EXPECT_THAT(to_string(validation::unscheduled_program(lowering)),
              ::testing::HasSubstr(R"(  nest S {
    for i0 < 1 {
      for i1 < 6 {
        S[i0, i1] = I[i0, i1]
      }
    }
    for S.idx < 3 {
      for j.1 < 6 {
        P[1 + S.idx, j.1] = 0.0
)"));
}

// Neither a stage of a scan step nor the init may be an argument.
TEST(Scans, PartsAreNoArguments) {
  const Sums sums;
  const Te te = sums.bound();
  for (const Tensor& part : {sums.init, sums.update, sums.state}) {
    const std::string text = faults([&] { lower(lowering_of(te, {sums.a, part, sums.scan})); });
    EXPECT_THAT(text, ::testing::HasSubstr("is a part of the scan 'S', not an array that"));
  }
}

}  // namespace
}  // namespace texloom::lower
