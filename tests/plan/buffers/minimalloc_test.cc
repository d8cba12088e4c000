// Tests the planner on the instances of benchmarks/planning/minimalloc.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "plan/buffers/offsets.h"
#include "tests/plan/buffers/random_items.h"

namespace texloom::plan {
namespace {

constexpr std::int64_t kCapacity = 1'048'576;

std::vector<BufferItem> read_instance(char name) {
  std::ifstream file(std::string("benchmarks/planning/minimalloc/") + name + ".1048576.csv");
  std::vector<BufferItem> items;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    long long lower = 0;
    long long upper = 0;
    long long size = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "%*d,%lld,%lld,%lld", &lower, &upper, &size), 3);
    items.push_back({{lower, upper - 1}, size});
  }
  EXPECT_GT(items.size(), 100U);
  return items;
}

void expect_fits(char name) {
  const std::vector<BufferItem> items = read_instance(name);
  const OffsetPlan plan = *fit_offsets(items, kCapacity);
  EXPECT_TRUE(is_valid(items, plan.offsets)) << name;
  EXPECT_LE(plan.bytes, kCapacity) << name;
}

// The instances that are solved fastest. First fit solves none of them, in any order.
TEST(QuickMiniMallocTest, FitsTheCapacity) {
  for (const char name : {'B', 'F', 'G', 'K'}) expect_fits(name);
}

// The same number of steps gives the same plan in each run.
TEST(QuickMiniMallocTest, IsDeterministic) {
  const std::vector<BufferItem> items = read_instance('G');
  const OffsetPlan plan = *fit_offsets(items, kCapacity);
  const OffsetPlan again = *fit_offsets(items, kCapacity);
  EXPECT_EQ(plan.offsets, again.offsets);
  EXPECT_EQ(plan.steps, again.steps);
  EXPECT_TRUE(plan.deterministic);
}

// All instances, which takes several seconds.
TEST(MiniMallocTest, FitsTheCapacity) {
  for (char name = 'A'; name <= 'K'; ++name) expect_fits(name);
}

}  // namespace
}  // namespace texloom::plan
