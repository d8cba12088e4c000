#include "plan/buffers/item.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace texloom::plan {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// Checks that the second of two items is refused, with its index and the reason.
void expect_refused(const BufferItem& item, StatusCode code, const char* reason) {
  const Status status = check_items(std::vector<BufferItem>{{{0, 0}, 8, 1}, item});
  EXPECT_EQ(status.code(), code) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr("item 1: "));
  EXPECT_THAT(status.message(), HasSubstr(reason));
}

// No items, items of zero bytes and the last operator that exists are all fine.
TEST(BufferItemTest, ExtremesAreAccepted) {
  EXPECT_TRUE(check_items({}).ok());
  EXPECT_TRUE(check_items(std::vector<BufferItem>{{{0, kHuge}, 0, 1}}).ok());
  EXPECT_TRUE(check_items(std::vector<BufferItem>{{{0, 0}, kMaxTotalBytes - 1, 1}}).ok());
}

TEST(BufferItemTest, WrongLifetimesAreRefused) {
  expect_refused({{3, 2}, 8, 1}, StatusCode::InvalidArgument, "reversed");
  expect_refused({{-1, 2}, 8, 1}, StatusCode::InvalidArgument, "begins at -1");
}

TEST(BufferItemTest, WrongSizesAndAlignmentsAreRefused) {
  expect_refused({{0, 0}, -8, 1}, StatusCode::InvalidArgument, "-8 bytes");
  expect_refused({{0, 0}, 8, 0}, StatusCode::InvalidArgument, "alignment is 0");
}

// Sums of offsets and sizes must not overflow later.
TEST(BufferItemTest, OverflowingSumsAreRefused) {
  expect_refused({{0, 0}, kHuge, 1}, StatusCode::LimitExceeded, "2^61");
  expect_refused({{0, 0}, 8, kHuge}, StatusCode::LimitExceeded, "2^61");
  expect_refused({{0, 0}, kMaxTotalBytes - 9, 1}, StatusCode::LimitExceeded, "2^61");
}

TEST(SeparationTest, UnknownAndEqualItemsAreRefused) {
  EXPECT_TRUE(check_separations(std::vector<Separation>{{0, 1}, {1, 0}}, 2).ok());
  EXPECT_THAT(check_separations(std::vector<Separation>{{0, 2}}, 2).message(),
              HasSubstr("item 2; there are 2 items"));
  EXPECT_THAT(check_separations(std::vector<Separation>{{1, 1}}, 2).message(),
              HasSubstr("item 1: it is separated from itself"));
}

}  // namespace
}  // namespace texloom::plan
