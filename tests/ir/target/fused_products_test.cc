#include "ir/target/fused_products.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/processor/processor.h"

namespace texloom::ir {
namespace {

constexpr const char* kX86 = "x86_64-linux-gnu";

bool has(const char* cpu, const char* features = "", const char* triple = kX86) {
  return has_fused_products({.triple = triple, .cpu = cpu, .features = features});
}

TEST(FusedProducts, ProcessorsOfX86) {
  for (const char* cpu : {"haswell", "znver4", "bdver2", "alderlake", "x86-64-v3", "knl"})
    EXPECT_TRUE(has(cpu)) << cpu;
  for (const char* cpu : {"", "x86-64", "x86-64-v2", "ivybridge", "goldmont", "tremont", "bdver1"})
    EXPECT_FALSE(has(cpu)) << cpu;
}

TEST(FusedProducts, FeaturesInTheirOrder) {
  EXPECT_TRUE(has("", "+fma"));
  EXPECT_TRUE(has("ivybridge", "+avx,+fma"));
  EXPECT_TRUE(has("", "+avx512f"));
  EXPECT_FALSE(has("", "+fma4"));
  EXPECT_TRUE(has("haswell", "-fma4"));
  EXPECT_FALSE(has("haswell", "-fma"));
  EXPECT_FALSE(has("haswell", "-avx"));
  EXPECT_TRUE(has("haswell", "-fma,+fma"));
  EXPECT_FALSE(has("haswell", "+fma,-fma"));
  EXPECT_TRUE(has("haswell", "-bmi2,"));
}

TEST(FusedProducts, AllOfAarch64HaveThem) {
  EXPECT_TRUE(has("", "", "aarch64-linux-gnu"));
  EXPECT_TRUE(has("cortex-a55", "", "aarch64-linux-gnu"));
}

TEST(FusedProducts, NativeIsThisProcessor) {
  const auto& own = processor_features();
  const bool expected = processor_architecture() == "aarch64" ||
                        std::ranges::find(own, std::string_view("fma")) != own.end();
  EXPECT_EQ(has("native", "", ""), expected);
}

}  // namespace
}  // namespace texloom::ir
