// Operations with several outputs: their loops, and their values compared with the computes.
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
using schedule::Op;

// The greatest element of each row, and its first position.
struct Argmax {
  Tensor a = placeholder("A", {6, 9});
  IterVar k = reduce_axis("k", 9);
  Op op = make(a, k);
  Tensor place = output_of(op, 0), value = output_of(op, 1);

  static ir::Reducer reducer() {
    const Expr i = ir::make_var("i"), j = ir::make_var("j");
    const Expr v = ir::make_var("v", ir::kFloat32), w = ir::make_var("w", ir::kFloat32);
    return {{i, v},
            {j, w},
            {ir::make_select(v < w, j, i), max(v, w)},
            {ir::make_int(-1), ir::make_float(-1e30)},
            "argmax"};
  }
  static Op make(const Tensor& a, const IterVar& k) {
    const IterVar i = data_axis("i", 6);
    const Expr body =
        schedule::reduce(reducer(), {k->var, at(a, {i->var, k->var})}, {{k}}, line(4));
    return schedule::make_compute("T", "", {i}, body, line(4));
  }
};

const Values kInput = numbers(54);

Values places() {
  Values result;
  for (size_t i = 0; i < 6; ++i) {
    const auto row = kInput.begin() + static_cast<ptrdiff_t>(9 * i);
    result.push_back(static_cast<double>(std::max_element(row, row + 9) - row));
  }
  return result;
}
Values greatest() {
  Values result;
  const Values at = places();
  for (size_t i = 0; i < 6; ++i) result.push_back(kInput[9 * i + static_cast<size_t>(at[i])]);
  return result;
}

TEST(SeveralOutputs, AreComputedBeforeTheFirstIsStored) {
  const Argmax t;
  Te te({t.place});
  EXPECT_EQ(after("build_loops", lowering_of(te, {t.a, t.place, t.value})),
            "nest T.v0 {\n"
            "  for i < 6 {\n"
            "    T.v0[i] = -1\n"
            "    T.v1[i] = -1e+30\n"
            "    for k < 9 {\n"
            "      let T.v0.next: int32 = select(T.v1[i] < A[i, k], k, T.v0[i])\n"
            "      let T.v1.next: float32 = max(T.v1[i], A[i, k])\n"
            "      T.v0[i] = T.v0.next\n"
            "      T.v1[i] = T.v1.next\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(SeveralOutputs, Values) {
  const Argmax t;
  Te te({t.place});
  const auto i = te.split(t.place, te.axis(t.place, 0), 4);
  te.split(t.place, t.k, 4);
  te.bind(t.place, i.outer, "blockIdx.x");
  te.bind(t.place, i.inner, "threadIdx.x");
  EXPECT_EQ(problems(lowering_of(te, {t.a, t.place, t.value}), {kInput}, greatest()), "");
  EXPECT_EQ(problems(lowering_of(te, {t.a, t.value, t.place}), {kInput}, places()), "");
  EXPECT_EQ(problems(lowering_of(te, {t.a, t.place}), {kInput}, places()), "");
}

TEST(SeveralOutputs, ValuesUnderAVectorizedLoop) {
  const Argmax t;
  Te te({t.place});
  const auto i = te.split(t.place, te.axis(t.place, 0), 2);
  te.reorder(t.place, {i.outer, t.k, i.inner});
  te.vectorize(t.place, i.inner);
  te.bind(t.place, i.outer, "blockIdx.x");
  EXPECT_EQ(problems(lowering_of(te, {t.a, t.value, t.place}), {kInput}, places()), "");
}

TEST(SeveralOutputs, ValuesInsideTheirReader) {
  const Argmax t;
  const Tensor y = compute("Y", {6}, [&](const Exprs& i) {
    return at(t.value, i) * ir::make_cast(ir::kFloat32, at(t.place, i));
  });
  Te te({y});
  te.bind(y, te.axis(y, 0), "blockIdx.x");
  te.compute_at(t.place, y, te.axis(y, 0));
  Values expected = greatest();
  for (size_t i = 0; i < 6; ++i) expected[i] *= places()[i];
  EXPECT_EQ(problems(lowering_of(te, {t.a, y}), {kInput}, expected), "");
}

TEST(SeveralOutputs, AreNotInlined) {
  const Argmax t;
  const IterVar i = data_axis("i", 6);
  const Op pair = schedule::make_compute(
      "P", "", {i}, ir::make_tuple({at(t.a, {i->var, ir::make_int(0)}), i->var}), line(4));
  const Tensor y = compute("Y", {6}, [&](const Exprs& x) { return at(output_of(pair, 1), x); });
  Te te({y});
  te.compute_inline(output_of(pair));
  EXPECT_EQ(faults([&] { lower(lowering_of(te, {t.a, y})); }),
            "TL2012 te.py:19: cannot inline 'P': its 2 outputs are computed together");
}

}  // namespace
}  // namespace texloom::lower
