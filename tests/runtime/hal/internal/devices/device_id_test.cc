#include "runtime/hal/internal/devices/device_id.h"

#include <gtest/gtest.h>

namespace texloom::hal {
namespace {

TEST(DeviceIdTest, HasLowerCaseWordsOnly) {
  EXPECT_EQ(device_id("NVIDIA CUDA NVIDIA H200"), "nvidia-cuda-nvidia-h200");
  EXPECT_EQ(device_id(" (Mali) G76 v1.2\t"), "mali-g76-v1.2");
}

TEST(DeviceIdTest, IsMadeUnique) {
  UniqueIds ids;
  EXPECT_EQ(ids.add("m1"), "m1");
  EXPECT_EQ(ids.add("m2"), "m2");
  EXPECT_EQ(ids.add("m1"), "m1-2");
  EXPECT_EQ(ids.add("m1"), "m1-3");
}

}  // namespace
}  // namespace texloom::hal
