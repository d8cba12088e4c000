// Tests which pairs of accesses conflict.
#include "ir/interpret/races.h"

#include <gtest/gtest.h>

namespace texloom::ir {
namespace {

Accessor by(int64_t thread, int64_t interval = 0, int64_t block = 0) {
  return {{{block, 0, 0}, {thread, 0, 0}}, interval, nullptr, {}};
}

class Histories : public ::testing::Test {
 protected:
  // Whether the access conflicts with an earlier access.
  bool read(const Accessor& a) { return history_.read(0, a).has_value(); }
  bool write(const Accessor& a) { return history_.write(0, a).has_value(); }
  AccessHistory history_;
};

TEST_F(Histories, OneThreadIsOrdered) {
  EXPECT_FALSE(write(by(0)));
  EXPECT_FALSE(read(by(0)));
  EXPECT_FALSE(write(by(0)));
}

TEST_F(Histories, ReadsDoNotConflict) {
  EXPECT_FALSE(read(by(0)));
  EXPECT_FALSE(read(by(1)));
  EXPECT_FALSE(read(by(0, 0, 1)));
}

TEST_F(Histories, ElementsAreToldApart) {
  EXPECT_FALSE(history_.write(0, by(0)).has_value());
  EXPECT_FALSE(history_.write(1, by(1)).has_value());
}

TEST_F(Histories, BarriersOrderABlock) {
  EXPECT_FALSE(write(by(0, 0)));
  EXPECT_FALSE(read(by(1, 1)));
  EXPECT_FALSE(read(by(2, 1)));
  EXPECT_FALSE(write(by(3, 2)));
  EXPECT_TRUE(write(by(2, 2)));
}

// The first reader writes, which conflicts with the other reader.
TEST_F(Histories, TwoReaders) {
  EXPECT_FALSE(read(by(0)));
  EXPECT_FALSE(read(by(1)));
  EXPECT_FALSE(read(by(0)));
  EXPECT_TRUE(write(by(0)));
}

TEST_F(Histories, ReadersOfEarlierIntervals) {
  EXPECT_FALSE(read(by(0, 0)));
  EXPECT_FALSE(read(by(1, 0)));
  EXPECT_FALSE(read(by(0, 1)));
  EXPECT_FALSE(write(by(0, 1)));
  EXPECT_TRUE(read(by(1, 1)));
}

TEST_F(Histories, NothingOrdersBlocks) {
  EXPECT_FALSE(read(by(0, 0, 0)));
  EXPECT_FALSE(read(by(0, 5, 1)));
  EXPECT_TRUE(write(by(0, 5, 1)));  // conflicts with the read by block 0
  EXPECT_TRUE(read(by(0, 9, 2)));
}

TEST_F(Histories, TellTheEarlierAccess) {
  EXPECT_FALSE(write(by(4)));
  const std::optional<Conflict> conflict = history_.read(0, by(1));
  EXPECT_EQ(conflict.value().earlier.id, by(4).id);
  EXPECT_TRUE(conflict->earlier_writes);
  EXPECT_FALSE(history_.write(0, by(1, 1)).has_value());
  EXPECT_FALSE(history_.read(0, by(1, 2)).has_value());
  EXPECT_FALSE(history_.write(0, by(3, 2)).value().earlier_writes);
}

}  // namespace
}  // namespace texloom::ir
