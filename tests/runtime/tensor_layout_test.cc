// Tests copying between row-major arrays and places.
#include "runtime/tensor_layout.h"

#include <gtest/gtest.h>

#include <array>

namespace texloom::runtime {
namespace {

// Two rows of two texels for (2, 2, 3): the fourth lane is padding.
const TensorLayout kTexels{{2, 2, 3}, {{0, 1, 2}}, {{1, 1, 2}}, {{2, 1, 4}}};

TEST(TensorLayout, PadsWithZeros) {
  std::array<std::uint16_t, 12> elements{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::array<std::uint16_t, 16> places;
  places.fill(99);
  pack(kTexels, 2, std::as_bytes(std::span(elements)), std::as_writable_bytes(std::span(places)));
  EXPECT_EQ(places,
            (std::array<std::uint16_t, 16>{1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 0}));
  std::array<std::uint16_t, 12> back{};
  unpack(kTexels, 2, std::as_bytes(std::span(places)), std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, elements);
}

// A fold moves the outer part of the rows to the columns: index 5 of 6 is in row 2 of column 1.
TEST(TensorLayout, DigitsOfOneAxis) {
  const TensorLayout folded{{6}, {{0, 1, 3}}, {{0, 3, 2}}, {}};
  std::array<std::uint8_t, 6> elements{0, 1, 2, 3, 4, 5}, places{};
  pack(folded, 1, std::as_bytes(std::span(elements)), std::as_writable_bytes(std::span(places)));
  EXPECT_EQ(places, (std::array<std::uint8_t, 6>{0, 3, 1, 4, 2, 5}));
  EXPECT_FALSE(folded.is_row_major());
}

TEST(TensorLayout, RowMajor) {
  const TensorLayout layout = row_major({2, 3});
  EXPECT_TRUE(layout.is_row_major());
  EXPECT_EQ(layout.elements(), 6);
  EXPECT_EQ(layout.places(), 6);
  EXPECT_EQ(row_major({}).elements(), 1);
}

}  // namespace
}  // namespace texloom::runtime
