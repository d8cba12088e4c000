// Factored reductions give the values of the original computes.
#include <gtest/gtest.h>

#include "tests/lower/interpreted.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Expr;
using ir::Exprs;
using ir::IterVar;
using ir::Tensor;

// C(i) = the sum of A(i, j, k) over j and k, where k differs from j.
class Rfactor : public ::testing::Test {
 protected:
  static constexpr int kRows = 3, kJ = 4, kK = 10;

  // Factors the reduction; one thread per row computes the partial results, and one adds them up.
  Tensor factor(const IterVar& axis, int position = 0) {
    const Tensor partial = te.s.rfactor(c, axis, position, line(30)).front();
    te.bind(partial, te.axis(partial, position == 0 ? 1 : 0), "blockIdx.x");
    te.bind(c, te.axis(c, 0), "blockIdx.x");
    return partial;
  }
  std::string wrong() const { return problems(lowering_of(te, {a, c}), {input}, expected()); }
  Values expected() const {
    Values sums(kRows, 0.0);
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kJ; ++j) {
        for (size_t k = 0; k < kK; ++k) {
          if (k != j) sums[i] += input[(i * kJ + j) * kK + k];
        }
      }
    }
    return sums;
  }
  static std::string shape(const Tensor& t) {
    std::string text;
    for (const Expr& extent : t->shape) text += ir::to_string(extent) + " ";
    return text;
  }

  Values input = numbers(size_t{kRows} * kJ * kK);
  Tensor a = placeholder("A", {kRows, kJ, kK});
  IterVar rj = reduce_axis("j", kJ), rk = reduce_axis("k", kK);
  Tensor c = compute("C", {kRows}, [this](const Exprs& x) {
    return sum(at(a, {x[0], rj->var, rk->var}), {rj, rk},
               make_binary(ir::BinaryOp::Ne, rk->var, rj->var));
  });
  Te te{{c}};
};

// The last part has only two of its four steps; the missing steps contribute the identity.
TEST_F(Rfactor, OfAnInnerPart) {
  const IterVar inner = te.split(c, rk, 4).inner;
  EXPECT_EQ(shape(factor(inner)), "4 3 ");
  EXPECT_EQ(wrong(), "");
}

TEST_F(Rfactor, OfAnOuterPartAfterTheRows) {
  const IterVar outer = te.split(c, rk, 4).outer;
  EXPECT_EQ(shape(factor(outer, -1)), "3 3 ");
  EXPECT_EQ(wrong(), "");
}

// The other reduction axis stays in each partial result.
TEST_F(Rfactor, OfAWholeAxis) {
  const Tensor partial = factor(rj);
  EXPECT_EQ(shape(partial), "4 3 ");
  EXPECT_EQ(names(te.stage(partial).op->reduce_axes), "k");
  EXPECT_EQ(wrong(), "");
}

TEST_F(Rfactor, OfFusedAxes) {
  const IterVar inner = te.split(c, te.fuse(c, {rj, rk}), 8).inner;
  const Tensor partial = factor(inner);
  EXPECT_EQ(shape(partial), "8 3 ");
  EXPECT_EQ(names(te.stage(partial).op->reduce_axes), "j.k.fused.outer");
  EXPECT_EQ(wrong(), "");
}

// If all reduction axes are factored, each partial result is one element, or the identity.
TEST_F(Rfactor, OfAllThereIs) {
  const Tensor partial = factor(te.fuse(c, {rj, rk}));
  EXPECT_EQ(shape(partial), "40 3 ");
  EXPECT_TRUE(te.stage(partial).op->reduce_axes.empty());
  EXPECT_EQ(wrong(), "");
}

TEST_F(Rfactor, Refused) {
  EXPECT_EQ(faults([&] { factor(te.axis(c, 0)); }),
            "TL2030 te.py:30: cannot rfactor 'C' along 'i': 'i' is not purely a reduction axis");
  EXPECT_EQ(faults([&] { factor(rj, 2); }),
            "TL2030 te.py:30: rfactor of 'C' puts the new axis at 2, but there are 1 axes");
}

// An initial value other than the identity is added once.
TEST(RfactorFromAStart, IsAddedOnce) {
  const Tensor a = placeholder("A", {12});
  const IterVar k = reduce_axis("k", 12);
  const Tensor c = compute("C", {2}, [&](const Exprs& x) {
    return schedule::reduce(schedule::Reduction::Sum, at(a, {k->var}),
                            {{k}, nullptr, {ir::make_cast(ir::kFloat32, x[0] + 5)}}, line(4));
  });
  Te te({c});
  const Tensor partial = te.s.rfactor(c, te.split(c, k, 3).inner, 0, line(30)).front();
  te.bind(partial, te.axis(partial, 0), "blockIdx.x");
  te.bind(c, te.axis(c, 0), "blockIdx.x");
  const Values input = numbers(12);
  double sum = 0;
  for (const double v : input) sum += v;
  EXPECT_EQ(problems(lowering_of(te, {a, c}), {input}, {sum + 5, sum + 6}), "");
}

}  // namespace
}  // namespace texloom::lower
