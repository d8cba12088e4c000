// Tests the placement of textures whose extents are settled.
#include "plan/textures/rectangles.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/runtime/status_matchers.h"

namespace texloom::plan {
namespace {

using hal::fails_with;

const Effort kEffort = {.steps = 20'000};

RectanglePlan place(const std::vector<Rectangle>& items,
                    const std::vector<Separation>& separations = {},
                    const RectangleLimits& limits = {}) {
  auto plan = place_rectangles(items, separations, limits, kEffort);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? *std::move(plan) : RectanglePlan{};
}

bool overlap(const Rectangle& a, const RectanglePlace& at, const Rectangle& b,
             const RectanglePlace& there) {
  return at.x < there.x + b.width && there.x < at.x + a.width && at.y < there.y + b.height &&
         there.y < at.y + a.height;
}

// Returns what is wrong with a plan, or "".
std::string fault(const std::vector<Rectangle>& items, const std::vector<Separation>& separations,
                  const RectangleLimits& limits, const RectanglePlan& plan) {
  if (plan.places.size() != items.size()) return "not a place for each item";
  std::vector<std::size_t> users(plan.images.size());
  std::int64_t texels = 0;
  for (const RectangleImage& image : plan.images) texels += image.texels();
  if (texels != plan.texels) return "wrong sum of texels";
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [image, x, y] = plan.places[i];
    const RectangleImage& there = plan.images[image];
    ++users[image];
    if (x < 0 || y < 0 || x + items[i].width > there.width || y + items[i].height > there.height)
      return "outside of its image";
    if (items[i].at_origin && (x != 0 || y != 0)) return "not at the origin";
    if (items[i].exact && there.texels() != items[i].width * items[i].height)
      return "not in an image of its extent";
    for (std::size_t j = 0; j < i; ++j) {
      if (plan.places[j].image == image && items[i].lifetime.meets(items[j].lifetime) &&
          overlap(items[i], plan.places[i], items[j], plan.places[j]))
        return "overlap";
    }
  }
  for (const Separation& pair : separations) {
    if (plan.places[pair.first].image == plan.places[pair.second].image) return "not separated";
  }
  for (std::size_t k = 0; k < plan.images.size(); ++k) {
    const RectangleImage& image = plan.images[k];
    if (users[k] == 0) return "an empty image";
    if (users[k] > 1 && (image.width > limits.max_width || image.height > limits.max_height ||
                         image.texels() > limits.max_texels))
      return "an image over the limits";
  }
  return "";
}

TEST(Rectangles, ShareAnImageOneAfterTheOther) {
  const auto plan = place({{.lifetime = {0, 1}, .width = 8, .height = 2, .at_origin = true},
                           {.lifetime = {2, 3}, .width = 6, .height = 2, .at_origin = true}});
  EXPECT_EQ(plan.texels, 16);
  EXPECT_EQ(plan.images.size(), 1u);
}

// Two live items that lie side by side take only their own texels.
TEST(Rectangles, ShareAnImageSideBySide) {
  const std::vector<Rectangle> items = {{.lifetime = {0, 1}, .width = 10, .height = 10},
                                        {.lifetime = {1, 2}, .width = 4, .height = 10},
                                        {.lifetime = {2, 3}, .width = 10, .height = 10}};
  EXPECT_EQ(place(items).texels, 140);
  // An item that must be at (0, 0) may have a neighbor that need not be there.
  auto one = items;
  one[0].at_origin = true;
  EXPECT_EQ(place(one).texels, 140);
  auto both = one;
  both[1].at_origin = true;
  EXPECT_EQ(place(both).images.size(), 2u);
}

// All three items fit one after the other into an image of 4 x 4 texels, if the largest item is
// placed first. In the order of their births, the second item gets an image of its own: the image
// of the first one would have to grow by more texels than the second one has.
TEST(Rectangles, ABetterOrderIsFound) {
  const std::vector<Rectangle> items = {{.lifetime = {0, 0}, .width = 4, .height = 1},
                                        {.lifetime = {1, 1}, .width = 1, .height = 4},
                                        {.lifetime = {2, 2}, .width = 4, .height = 4}};
  // These steps pay for the order of the births only.
  const auto by_birth = place_rectangles(items, {}, {}, {.steps = 80});
  ASSERT_TRUE(by_birth.ok());
  EXPECT_EQ(by_birth->texels, 16 + 4);
  EXPECT_EQ(place(items).texels, 16);
}

// The first two items lie side by side in the image of the third, unless a separation forbids it.
TEST(Rectangles, SeparatedItemsShareNoImage) {
  const std::vector<Rectangle> items = {{.lifetime = {0, 1}, .width = 4, .height = 4},
                                        {.lifetime = {1, 1}, .width = 4, .height = 4},
                                        {.lifetime = {2, 2}, .width = 8, .height = 4}};
  EXPECT_EQ(place(items).texels, 32);
  EXPECT_EQ(place(items, {{0, 1}}).texels, 32 + 16);
}

TEST(Rectangles, ExactItemsHaveImagesOfTheirExtent) {
  const auto plan = place({{.lifetime = {0, 0}, .width = 9, .height = 4},
                           {.lifetime = {1, 1}, .width = 8, .height = 4, .exact = true},
                           {.lifetime = {2, 2}, .width = 8, .height = 4, .exact = true},
                           {.lifetime = {3, 3}, .width = 7, .height = 3},
                           {.lifetime = {4, 4}, .width = 4, .height = 8, .exact = true}});
  EXPECT_EQ(plan.texels, 36 + 32 + 32);
  EXPECT_EQ(plan.places[1].image, plan.places[2].image);
  EXPECT_FALSE(plan.images[plan.places[0].image].exact);
  EXPECT_TRUE(plan.images[plan.places[1].image].exact);
}

TEST(Rectangles, ImagesDoNotOutgrowTheLimits) {
  const std::vector<Rectangle> items = {{.lifetime = {0, 0}, .width = 12, .height = 10},
                                        {.lifetime = {1, 1}, .width = 10, .height = 12}};
  EXPECT_EQ(place(items).images.size(), 1u);
  EXPECT_EQ(place(items, {}, {.max_width = 11}).images.size(), 2u);
  EXPECT_EQ(place(items, {}, {.max_height = 11}).images.size(), 2u);
  EXPECT_EQ(place(items, {}, {.max_texels = 143}).images.size(), 2u);
  EXPECT_EQ(place(items, {}, {.max_texels = 144}).images.size(), 1u);
}

// The union of both rectangles has 2^64 - 2^33 + 1 texels, which is negative in 64 bits.
TEST(Rectangles, AProductBeyond64BitsIsNoImage) {
  constexpr std::int64_t kLong = (std::int64_t{1} << 32) - 1;
  const auto plan = place({{.lifetime = {0, 0}, .width = kLong, .height = 1},
                           {.lifetime = {1, 1}, .width = 1, .height = kLong}});
  EXPECT_EQ(plan.images.size(), 2u);
  EXPECT_EQ(plan.texels, 2 * kLong);
}

TEST(Rectangles, ListsThatAreRefused) {
  const auto refused = [](Rectangle item) {
    return place_rectangles(std::vector{item}, {}, {}, kEffort).status();
  };
  EXPECT_THAT(refused({.lifetime = {2, 1}}), fails_with(StatusCode::InvalidArgument, "item 0"));
  EXPECT_THAT(refused({.lifetime = {-1, 1}}), fails_with(StatusCode::InvalidArgument, "from -1"));
  EXPECT_THAT(refused({.width = 0}), fails_with(StatusCode::InvalidArgument, "0x1 texels"));
  EXPECT_THAT(refused({.width = std::int64_t{1} << 40, .height = 1 << 9}),
              fails_with(StatusCode::InvalidArgument, "texels"));
  const std::vector<Separation> unknown = {{0, 1}};
  EXPECT_EQ(place_rectangles(std::vector{Rectangle{}}, unknown, {}, kEffort).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(place({}).images.size(), 0u);
}

// Random lists: every plan obeys the rules, with and without steps, and exceeds no limit of steps.
TEST(Rectangles, RandomListsAreWellPlaced) {
  std::int64_t without = 0, with = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    std::minstd_rand random(seed + 1);
    std::vector<Rectangle> items(1 + random() % 12);
    std::int64_t time = 0;
    for (Rectangle& item : items) {
      time += random() % 2;
      item.lifetime = {time, time + static_cast<std::int64_t>(random() % 4)};
      item.width = 1 + random() % 20;
      item.height = 1 + random() % 20;
      item.at_origin = random() % 2 == 0;
      item.exact = seed % 4 == 0 && random() % 4 == 0;
    }
    std::vector<Separation> separations;
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
      if (random() % 3 == 0) separations.push_back({i, i + 1});
    }
    const RectangleLimits limits = {.max_width = 30, .max_height = 40, .max_texels = 600};
    for (const std::int64_t steps : {0, 20'000}) {
      const auto plan = place_rectangles(items, separations, limits, {.steps = steps});
      ASSERT_TRUE(plan.ok());
      ASSERT_EQ(fault(items, separations, limits, *plan), "") << seed;
      EXPECT_LE(plan->steps, steps);
      (steps == 0 ? without : with) += plan->texels;
    }
  }
  EXPECT_LT(with, without * 95 / 100);
}

}  // namespace
}  // namespace texloom::plan
