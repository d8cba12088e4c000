// Tests the check of image sizes that depend on the call.
#include "runtime/plan/image_limits.h"

#include <gtest/gtest.h>

namespace texloom::runtime {
namespace {

TEST(CheckImages, NamesTheTensorAndBothSizes) {
  hal::DeviceLimits limits;
  limits.max_image_width = 64;
  limits.max_image_height = 32;
  LaunchPlan plan;
  plan.arguments = {{"A", hal::ElementType::Float32, {9000}, BufferStorage{36000}}};
  plan.temporaries = {{"T", hal::ElementType::Float32, {32, 64, 4}, TextureStorage{{64, 32}}}};
  EXPECT_TRUE(check_images(plan, limits).ok());
  for (const hal::Extent2D extent : {hal::Extent2D{65, 32}, hal::Extent2D{64, 33}}) {
    plan.temporaries[0].storage = TextureStorage{extent};
    const Status status = check_images(plan, limits);
    EXPECT_EQ(status.code(), StatusCode::LimitExceeded);
    EXPECT_EQ(status.message(), "\"T\" of shape (32, 64, 4) needs an image of " +
                                    hal::to_string(extent) +
                                    ", but the device's images have at most 64x32 texels");
  }
}

}  // namespace
}  // namespace texloom::runtime
