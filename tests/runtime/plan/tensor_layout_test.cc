// Tests copies between row-major arrays and arrays in other layouts.
#include "runtime/plan/tensor_layout.h"

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

// A fold moves the outer part of the rows to the columns: index 5 of 6 is in row 2 and column 1.
TEST(TensorLayout, DigitsOfOneAxis) {
  const TensorLayout folded{{6}, {{0, 1, 3}}, {{0, 3, 2}}, {}};
  std::array<std::uint8_t, 6> elements{0, 1, 2, 3, 4, 5}, places{};
  pack(folded, 1, std::as_bytes(std::span(elements)), std::as_writable_bytes(std::span(places)));
  EXPECT_EQ(places, (std::array<std::uint8_t, 6>{0, 3, 1, 4, 2, 5}));
  EXPECT_FALSE(folded.is_row_major());
}

// Adjacent columns are one contiguous run of the array; the last texel is partial, as 5 is odd.
TEST(TensorLayout, PaddingBetweenRuns) {
  const TensorLayout layout{{5, 2}, {{0, 2, 3}}, {{1, 1, 2}, {0, 1, 2}}, {}};
  std::array<std::uint32_t, 10> elements{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::array<std::uint32_t, 12> places;
  places.fill(99);
  pack(layout, 4, std::as_bytes(std::span(elements)), std::as_writable_bytes(std::span(places)));
  EXPECT_EQ(places, (std::array<std::uint32_t, 12>{1, 3, 2, 4, 5, 7, 6, 8, 9, 0, 10, 0}));
  std::array<std::uint32_t, 10> back{};
  unpack(layout, 4, std::as_bytes(std::span(places)), std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, elements);
}

// Without padding, a run may span rows and columns, here with a stride: the transpose of (3, 4)
// has runs of three elements.
TEST(TensorLayout, TransposesInRuns) {
  const TensorLayout layout{{3, 4}, {}, {{1, 1, 4}, {0, 1, 3}}, {}};
  std::array<std::uint64_t, 12> elements{}, places{}, back{};
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = i;
  pack(layout, 8, std::as_bytes(std::span(elements)), std::as_writable_bytes(std::span(places)));
  EXPECT_EQ(places, (std::array<std::uint64_t, 12>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  unpack(layout, 8, std::as_bytes(std::span(places)), std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, elements);
}

TEST(TensorLayout, RowMajor) {
  const TensorLayout layout = row_major({2, 3});
  EXPECT_TRUE(layout.is_row_major());
  EXPECT_EQ(layout.elements(), 6);
  EXPECT_EQ(layout.places(), 6);
  EXPECT_EQ(row_major({}).elements(), 1);
  std::array<std::uint8_t, 1> element{7}, place{};
  pack(row_major({}), 1, std::as_bytes(std::span(element)),
       std::as_writable_bytes(std::span(place)));
  EXPECT_EQ(place, element);
}

}  // namespace
}  // namespace texloom::runtime
