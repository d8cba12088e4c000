// Tests that texts of sizes are short, and that rounding never gives 1024 of a unit.
#include "support/byte_text.h"

#include <gtest/gtest.h>

namespace texloom {
namespace {

TEST(ByteText, HasOneDigitAfterThePointUnlessItIsZero) {
  EXPECT_EQ(byte_text(0), "0 bytes");
  EXPECT_EQ(byte_text(1), "1 byte");
  EXPECT_EQ(byte_text(1023), "1023 bytes");
  EXPECT_EQ(byte_text(1536), "1.5 KiB");
  EXPECT_EQ(byte_text(std::uint64_t{1} << 30), "1 GiB");
  EXPECT_EQ(byte_text(~std::uint64_t{0}), "16 EiB");
}

TEST(ByteText, GoesToTheNextUnitWhereRoundingDoes) {
  EXPECT_EQ(byte_text((1 << 20) - 1), "1 MiB");
  EXPECT_EQ(byte_text(1023 * 1024), "1023 KiB");
}

}  // namespace
}  // namespace texloom
