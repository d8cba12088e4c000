#include "ir/target/nearest_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace texloom::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kNames = {"opencl",     "llvm",       "native",        "haswell",
                                         "cortex-a55", "cortex-a76", "skylake-avx512"};

TEST(NearestNames, AreTheFewestEditsAway) {
  EXPECT_THAT(nearest_names("haswel", kNames), ElementsAre("haswell"));
  EXPECT_THAT(nearest_names("opengl", kNames), ElementsAre("opencl"));
  EXPECT_THAT(nearest_names("cortex-a75", kNames), ElementsAre("cortex-a55", "cortex-a76"));
  EXPECT_THAT(nearest_names("OpenCL", kNames), ElementsAre("opencl"));
}

TEST(NearestNames, BeginWithTheWord) {
  EXPECT_THAT(nearest_names("skylake", kNames), ElementsAre("skylake-avx512"));
  EXPECT_THAT(nearest_names("sk", kNames), IsEmpty());
}

TEST(NearestNames, AreAtMostFive) {
  const std::vector<std::string> names = {"core1", "core2", "core3", "core4", "core5", "core6"};
  EXPECT_THAT(nearest_names("core", names),
              ElementsAre("core1", "core2", "core3", "core4", "core5"));
}

TEST(NearestNames, AreNoneOfFarOnes) {
  EXPECT_THAT(nearest_names("", kNames), IsEmpty());
  EXPECT_THAT(nearest_names("vulkan", kNames), IsEmpty());
  EXPECT_EQ(nearest_help("vulkan", kNames), "");
}

TEST(NearestNames, HelpSaysWhatToWrite) {
  EXPECT_EQ(nearest_help("haswel", kNames), "write haswell");
  EXPECT_EQ(nearest_help("cortex-a", kNames), "write cortex-a55 or cortex-a76");
}

}  // namespace
}  // namespace texloom::ir
