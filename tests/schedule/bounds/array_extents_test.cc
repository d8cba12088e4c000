// Tests inferring the extents of a call's array arguments.
#include "schedule/bounds/array_extents.h"

#include <gtest/gtest.h>

#include "schedule/operation/scan_operation.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Expr;
using ir::Exprs;
using ir::IterVar;
using ir::Tensor;

std::string known(const Te& te) {
  std::string text;
  for (const Expr& extent : array_extents(te.s)) text += ir::to_string(extent) + "; ";
  return text;
}

TEST(ArrayExtents, OfInputsAndOutputs) {
  const Expr n = ir::make_var("n"), zero = ir::make_int(0);
  const Tensor a = output_of(make_placeholder("A", ir::kFloat32, {n}, line(1)));
  const auto of_length = [&](const char* name, const Expr& extent, const Tensor& from) {
    const IterVar i = make_iter_var(ir::make_var("i"), zero, extent, ir::IterKind::Data, line(2));
    return output_of(make_compute(name, "", {i}, at(from, {zero}), line(4)));
  };
  const Tensor b = of_length("B", n * 2, a), c = of_length("C", n + 1, b);
  EXPECT_EQ(known(Te({c})), "n; n + 1; ");
}

// The state that an update reads is not an argument of the call.
TEST(ArrayExtents, NotOfTheStatesOfScans) {
  const Tensor init = compute("I", {1}, [](const Exprs&) { return ir::make_float(0); });
  const Tensor state = placeholder("R", {6}), a = placeholder("A", {5});
  const Tensor update = compute(
      "U", {6}, [&](const Exprs& i) { return at(state, {i[0] - 1}) + at(a, {ir::make_int(0)}); });
  const Tensor s = output_of(make_scan("S", "S.idx", "", {{init, update, state}}, line(6)));
  EXPECT_EQ(known(Te({s})), "5; 6; ");
}

}  // namespace
}  // namespace texloom::schedule
