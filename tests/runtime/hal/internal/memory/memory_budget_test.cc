// Tests that destroying the last copy of a token returns its bytes to the budget.
#include "runtime/hal/internal/memory/memory_budget.h"

#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
namespace {

TEST(MemoryBudget, IsUsedUpAndGivenBack) {
  const auto budget = std::make_shared<MemoryBudget>(100);
  auto most = budget->take(90);
  TL_ASSERT_OK(most.status());
  EXPECT_THAT(budget->take(11).status(),
              fails_with(StatusCode::OutOfMemory,
                         "no memory for 11 bytes more: 90 bytes of 100 bytes are in use"));
  const auto rest = budget->take(10);
  TL_EXPECT_OK(rest.status());
  const MemoryBudget::Token copy = *std::exchange(most, MemoryBudget::Token());
  EXPECT_EQ(budget->take(1).status().code(), StatusCode::OutOfMemory);
}

TEST(MemoryBudget, LivesAsLongAsItsTokens) {
  auto budget = std::make_shared<MemoryBudget>(8);
  const auto token = budget->take(8);
  const std::weak_ptr<MemoryBudget> alive = budget;
  budget.reset();
  EXPECT_FALSE(alive.expired());
}

TEST(MemoryBudget, SumsDoNotOverflow) {
  const auto budget = std::make_shared<MemoryBudget>(100);
  const auto some = budget->take(50);
  EXPECT_EQ(budget->take(~std::uint64_t{0}).status().code(), StatusCode::OutOfMemory);
}

}  // namespace
}  // namespace texloom::hal
