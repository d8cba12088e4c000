// Programs of many stages are lowered without deep recursion.
#include <gtest/gtest.h>

#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Tensor;

// A thousand kernels; each reads the result of the previous one, which is freed afterwards.
TEST(ManyStages, AThousandAtTheRoot) {
  constexpr size_t kStages = 1000;
  const Tensor a = placeholder("A", {8});
  std::vector<Tensor> chain;
  for (size_t i = 0; i < kStages; ++i) {
    chain.push_back(plus_one(chain.empty() ? a : chain.back(), "T" + std::to_string(i)));
  }
  Te te{{chain.back()}};
  for (const Tensor& t : chain) te.bind(t, te.axis(t, 0), "threadIdx.x");
  Lowering lowering = lowering_of(te, {a});
  lowering.verify_each = false;
  int deepest = 0;
  const ir::Program program = lower(std::move(lowering), [&](const Pass&, const Lowering& now) {
                                if (now.program.body)
                                  deepest = std::max<int>(deepest, now.program.body->depth);
                              }).program;
  EXPECT_LT(deepest, 10);
  EXPECT_EQ(program.kernels.size(), kStages);
  EXPECT_EQ(program.temporaries.size(), kStages - 1);
  const auto* plan = as<ir::Seq>(program.body);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->statements.size(), 2 * kStages - 1);
  const auto* free = as<ir::Free>(plan->statements[2]);
  ASSERT_NE(free, nullptr);
  EXPECT_EQ(free->buffer->name, "T0");
}

}  // namespace
}  // namespace texloom::lower
