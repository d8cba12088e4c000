#include "validation/versions.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ir/interpret/value.h"
#include "lower/te_text.h"

namespace texloom::validation {
namespace {

constexpr int64_t kSteps = 10'000;

lower::Lowering parsed_main(const std::string& rest) {
  return lower::parse_lowering(
      "program main stage=te target=\"opencl\"\n"
      "  reducer sum(lhs, rhs): int32 = lhs + rhs, identity=0\n"
      "  param X\n  param Y\n\nplaceholder X: int32[8]\n\n" +
          rest,
      "p.tl");
}

Bytes numbers() {
  Bytes bytes(8 * 4);
  for (size_t i = 0; i < 8; ++i) {
    ir::encode(ir::kInt32, ir::scalar_of(static_cast<int64_t>(i * i)), bytes.data() + 4 * i);
  }
  return bytes;
}

std::map<std::string, Version> versions(const std::string& rest) {
  std::map<std::string, Version> found;
  run_versions(parsed_main(rest), {{numbers(), std::nullopt}}, kSteps,
               [&](const Version& v) { found.emplace(v.pass, v); });
  return found;
}

// All versions give the same values, from the unscheduled computes to the printed program.
TEST(Versions, AllComputeTheSame) {
  const auto found = versions(
      "compute Y(i < 8): int32 = X[7 - i] + 1\n  output\n"
      "  split i factor=3 -> i.outer, i.inner\n  bind i.outer blockIdx.x\n");
  EXPECT_GE(found.size(), 4U);
  for (const auto& [pass, version] : found) {
    EXPECT_TRUE(version.reports.empty()) << pass;
    EXPECT_EQ(version.arrays.at(0), numbers()) << pass;
    EXPECT_EQ(version.arrays.at(1), found.at("unscheduled").arrays.at(1)) << pass;
    EXPECT_EQ(ir::decode(ir::kInt32, version.arrays.at(1).data()).integer, 50) << pass;
  }
}

// Before the stage `kernels`, threads run in sequence and share private memory.
TEST(Versions, PartsOfAReductionOverThreadsRunInKernelsAlone) {
  const auto found = versions(
      "compute Y(i < 1): int32 = reduce(sum, [k < 8], X[k])\n  output\n"
      "  bind i blockIdx.x\n  bind k threadIdx.x\n");
  EXPECT_FALSE(found.contains("build_loops.build_nests"));
  ASSERT_TRUE(found.contains("insert_barriers.place_barriers"));
  EXPECT_EQ(ir::decode(ir::kInt32, found.at("insert_barriers.place_barriers").arrays.at(1).data())
                .integer,
            140);
}

}  // namespace
}  // namespace texloom::validation
