// Tests when a computation is not evaluated, and how an evaluation ends early.
#include "graph/evaluate.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "graph/text/computation_text.h"

namespace texloom::graph {
namespace {

constexpr std::int64_t kSteps = 1 << 20;

// 1024 elements, each of which is a sum of 256 terms.
SharedComputation sums() {
  return parse_computation(
      "computation 0 (in0) -> (out)\n  reducer sum(x, y): float32 = x + y, identity=0.0\n"
      "placeholder in0: float32[1024, 256]\n"
      "compute out(i < 1024): float32 = reduce(sum, [k < 256], in0[i, k])\n",
      "sums.tl");
}

std::vector<Elements> zeros() {
  return {std::make_shared<const std::vector<std::byte>>(1024 * 256 * sizeof(float))};
}

TEST(Evaluated, EndsWhenTheInterruptionThrows) {
  int calls = 0;
  const auto interruption = [&] {
    if (++calls == 2) throw std::runtime_error("interrupted");
  };
  EXPECT_THROW(static_cast<void>(evaluated(*sums(), zeros(), kSteps, interruption)),
               std::runtime_error);
  EXPECT_EQ(calls, 2);
}

// Loops that are longer than the limit are not begun: nobody is asked whether they go on.
TEST(Evaluated, DoesNotBeginWhatIsTooLong) {
  int calls = 0;
  const auto interruption = [&] { ++calls; };
  EXPECT_TRUE(evaluated(*sums(), zeros(), kSteps, interruption).has_value());
  EXPECT_GT(calls, 1);
  calls = 0;
  EXPECT_FALSE(evaluated(*sums(), zeros(), 1024 * 256 - 1, interruption).has_value());
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace texloom::graph
