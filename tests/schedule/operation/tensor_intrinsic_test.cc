// Tests replacing scalars of tensor intrinsics with constants.
#include "schedule/operation/tensor_intrinsic.h"

#include <gtest/gtest.h>

#include "ir/program.h"
#include "support/diagnostic.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using namespace ir;  // the whole file uses IR nodes

// y[i] = x[i] * v + w over four elements; the body stores v + w.
TensorIntrinsic scaled(const Expr& v, const Expr& w) {
  const IterVar i = data_axis("i", 4);
  const Expr value = at(placeholder("x", {4}, kInt32), {i->var}) * v + w;
  const Op y = make_compute("y", "", {i}, value, {});
  const Buffer in = make_buffer("x", kInt32, {4}, MemoryScope::Global);
  const Buffer out = make_buffer("y", kInt32, {4}, MemoryScope::Global);
  const Stmt body = make_store(out, {make_int(0)}, v + w);
  return make_tensor_intrinsic(
      {"scaled", y, {{in, {}, {}}}, {{out, {}, {}}}, {v, w}, {body, {}, {}}, {}});
}

TEST(TensorIntrinsic, ConstantsStandInTheExpressionAndTheStatements) {
  const Expr v = make_var("v"), w = make_var("w");
  const TensorIntrinsic made = with_constants(*scaled(v, w), {make_int(3), {}}, {});
  EXPECT_EQ(to_string(made->computation->body), "x[i] * 3 + w");
  EXPECT_NE(to_string(made->statements.body).find("= 3 + w"), std::string::npos);
  ASSERT_EQ(made->scalars.size(), 1U);
  EXPECT_TRUE(made->scalars[0].same_as(w));
  EXPECT_TRUE(with_constants(*made, {make_int(1)}, {})->scalars.empty());
}

// An input that is multiplied by zero folds away, and cannot be matched with loops.
TEST(TensorIntrinsic, AConstantMayNotTakeAnInputAlong) {
  const Expr v = make_var("v"), w = make_var("w");
  try {
    with_constants(*scaled(v, w), {make_int(0), {}}, {});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("does not read each of its inputs"), std::string::npos);
  }
}

}  // namespace
}  // namespace texloom::schedule
