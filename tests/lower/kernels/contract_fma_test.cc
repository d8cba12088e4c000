// Tests which sums of products become fma.
#include "lower/kernels/contract_fma.h"

#include <gtest/gtest.h>

#include "ir/target/target.h"
#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::Expr;
using ir::Type;

TEST(ContractFma, FourForms) {
  const Expr a = ir::make_var("a", ir::kFloat32), b = ir::make_var("b", ir::kFloat32),
             c = ir::make_var("c", ir::kFloat32);
  const ir::Buffer y = ir::global("y", ir::kFloat32, 1);
  const auto contracted = [&](const Expr& value) {
    return to_string(contract_products(ir::put(y, ir::make_int(0), value)));
  };
  EXPECT_EQ(contracted(a * b + c), "y[0] = fma(a, b, c)\n");
  EXPECT_EQ(contracted(c + a * b), "y[0] = fma(a, b, c)\n");
  EXPECT_EQ(contracted(a * b - c), "y[0] = fma(a, b, c * -1.0)\n");
  EXPECT_EQ(contracted(c - a * b), "y[0] = fma(a * -1.0, b, c)\n");
  // In a sum of two products, one product stays; in a chain, all but the first are contracted.
  EXPECT_EQ(contracted(a * b + b * c), "y[0] = fma(b, c, a * b)\n");
  EXPECT_EQ(contracted(a * b + b * c + c * a), "y[0] = fma(c, a, fma(b, c, a * b))\n");
  // Nothing to contract.
  EXPECT_EQ(contracted(a + b), "y[0] = a + b\n");
  EXPECT_EQ(contracted((a + b) * c), "y[0] = (a + b) * c\n");
  EXPECT_EQ(contracted(min(a * b, c)), "y[0] = min(a * b, c)\n");
}

// float16 is computed in float32 later; integers do not round.
TEST(ContractFma, OnlyFloat32AndFloat64) {
  const auto contracted = [](Type type) {
    const Expr a = ir::make_var("a", type), b = ir::make_var("b", type);
    const ir::Buffer y = ir::global("y", type.element(), 4);
    const ir::Stmt body = type.is_scalar() ? ir::put(y, ir::make_int(0), a * b + a)
                                           : ir::put_vector(y, ir::make_int(0), a * b + a);
    return to_string(contract_products(body));
  };
  EXPECT_EQ(contracted(Type::f(64)), "y[0] = fma(a, b, a)\n");
  EXPECT_EQ(contracted(ir::kFloat32.with_lanes(4)), "y[ramp(0, 1, 4)] = fma(a, b, a)\n");
  EXPECT_EQ(contracted(Type::f(16)), "y[0] = a * b + a\n");
  EXPECT_EQ(contracted(ir::kInt32), "y[0] = a * b + a\n");
}

TEST(ContractFma, ObeysTheMathMode) {
  const Expr a = ir::make_var("a", ir::kFloat32);
  const ir::Buffer y = ir::global("y", ir::kFloat32, 1);
  Lowering lowering;
  lowering.program.kernels.emplace_back().body = ir::put(y, ir::make_int(0), a * a + a);
  lowering.target.math.contract = false;
  contract_fma(lowering);
  EXPECT_EQ(to_string(lowering.program.kernels[0].body), "y[0] = a * a + a\n");
  lowering.target.math.contract = true;
  contract_fma(lowering);
  EXPECT_EQ(to_string(lowering.program.kernels[0].body), "y[0] = fma(a, a, a)\n");
}

// LLVM vectorizes no chain of fma, and contracts by itself.
TEST(ContractFma, LeavesFastMathOfNativeCodeToLlvm) {
  const Expr a = ir::make_var("a", ir::kFloat32);
  const ir::Buffer y = ir::global("y", ir::kFloat32, 1);
  const auto contracted = [&](const char* target) {
    Lowering lowering;
    lowering.program.kernels.emplace_back().body = ir::put(y, ir::make_int(0), a * a + a);
    lowering.target = ir::parse_target(target, {});
    contract_fma(lowering);
    return to_string(lowering.program.kernels[0].body);
  };
  EXPECT_EQ(contracted("haswell -fast_math=1"), "y[0] = a * a + a\n");
  EXPECT_EQ(contracted("haswell"), "y[0] = fma(a, a, a)\n");
  EXPECT_EQ(contracted("opencl -fast_math=1"), "y[0] = fma(a, a, a)\n");
}

}  // namespace
}  // namespace texloom::lower
