// Tests counting the arithmetic that a schedule asks for.
#include "compile/operation_count.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lower/te_text.h"
#include "schedule/operation/operators.h"

namespace texloom::compile {
namespace {

// A schedule of stages that read A: float32[8, 4].
schedule::Schedule schedule_of(const std::string& stages) {
  return lower::parse_lowering(R"(program p stage=te target="opencl"
  reducer sum(a, b): float32 = a + b, identity=0.0
  param A
  param B

placeholder A: float32[8, 4]

)" + stages,
                               "test.tl")
      .schedule;
}

// The operations of a stage B of 8 x 4 elements with this body; -1 if unknown.
double count_of(std::string_view body) {
  const auto count = count_operations(
      schedule_of("compute B(i < 8, j < 4): float32 = " + std::string(body) + "\n  output\n"));
  return count ? total(*count, {}).value_or(-1) : -1;
}

TEST(OperationCount, CountsTheOperationsOfEachElement) {
  EXPECT_EQ(count_of("A[i, j]"), 0);
  EXPECT_EQ(count_of("A[i, j] * 2.0 + 1.0"), 2 * 32);
  EXPECT_EQ(count_of("exp(max(A[i, j], 0.0))"), 2 * 32);
}

// Both values of a selection count. Its condition, conversions and indices do not.
TEST(OperationCount, OnlyValuesCount) {
  EXPECT_EQ(count_of("select(i + j < 5, A[i, j] * 2.0, A[i, j] + 3.0)"), 2 * 32);
  EXPECT_EQ(count_of("float32(i)"), 0);
  EXPECT_EQ(count_of("A[floormod(i + 1, 8), 3 - j]"), 0);
}

TEST(OperationCount, AnExpressionCountsOnceIfItIsShared) {
  const ir::Tensor a =
      schedule::output_of(schedule::make_placeholder("A", ir::kFloat32, {ir::make_int(8)}, {}));
  const ir::IterVar i = ir::make_iter_var(ir::make_var("i"), ir::make_int(0), ir::make_int(8),
                                          ir::IterKind::Data, {});
  const auto square = [&] {
    const ir::Expr value = schedule::read(a, {i->var}, {});
    return value * value;
  };
  const auto operations = [&](const ir::Expr& body) {
    const schedule::Schedule s =
        schedule::Schedule::create({schedule::make_compute("B", "", {i}, body, {})});
    return total(*count_operations(s), {});
  };
  const ir::Expr shared = square();
  EXPECT_EQ(operations(shared + shared), 8 * 2);
  EXPECT_EQ(operations(square() + square()), 8 * 3);  // written twice
}

// The combination and the reduced value both count at each point of the reduction.
TEST(OperationCount, ReductionsCountTheirPoints) {
  const schedule::Schedule s = schedule_of(
      "compute B(i < 8): float32 = reduce(sum, [k < 4], A[i, k] * A[i, k])\n  output\n");
  EXPECT_EQ(total(*count_operations(s), {}), 2 * 8 * 4);
}

// An inlined stage counts once, though each of its readers repeats it.
TEST(OperationCount, StagesCountOnceWhereverTheyAreComputed) {
  const schedule::Schedule s = schedule_of(
      "compute T(i < 8, j < 4): float32 = A[i, j] + 1.0\n  inline\n\n"
      "compute B(i < 8, j < 4): float32 = T[i, j] * T[7 - i, j]\n  output\n");
  EXPECT_EQ(total(*count_operations(s), {}), 2 * 32);
}

TEST(OperationCount, SymbolicExtentsNeedTheirValues) {
  const schedule::Schedule s = lower::parse_lowering(R"(program p stage=te target="opencl"
  symbol n: int32
  param A
  param B

placeholder A: float32[n]

compute B(i < n): float32 = A[i] * 3.0
  output
)",
                                                     "test.tl")
                                   .schedule;
  const auto count = count_operations(s);
  ASSERT_TRUE(count && count->size() == 1);
  EXPECT_EQ(total(*count, {}), std::nullopt);
  const ir::Expr n = count->front().extents.front();
  EXPECT_EQ(total(*count, {{n, ir::make_int(5)}}), 5);
}

TEST(OperationCount, ExternsAndForeignFunctionsAreUnknown) {
  EXPECT_EQ(count_of("call_pure_extern(mad, A[i, j]: float32) + 1.0"), -1);
  EXPECT_EQ(count_operations(schedule_of(R"(extern B
  reads A: global float32[8, 4] = A
  writes B: global float32[8]
{
  thread<blockIdx.x> blockIdx.x < 8 {
    B[blockIdx.x] = A[blockIdx.x, 0] * 2.0
  }
}
  output
)")),
            std::nullopt);
}

}  // namespace
}  // namespace texloom::compile
