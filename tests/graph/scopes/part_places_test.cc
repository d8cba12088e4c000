// Tests where parts of a concatenation lie in the whole.
#include "graph/scopes/part_places.h"

#include <gtest/gtest.h>

namespace texloom::graph {
namespace {

Stored stored(const ir::Shape& shape, const char* scope) {
  return stored_as({*ir::parse_scope(scope), {}}, {shape.begin(), shape.end()}, ir::kFloat32, {},
                   "T", {});
}

std::string text_of(const std::optional<std::vector<PartPlace>>& places) {
  if (!places) return "none";
  std::string text;
  for (const PartPlace& place : *places)
    text += (text.empty() ? "" : " ") + std::to_string(place.row) + "," + std::to_string(place.col);
  return text;
}

std::string places(const ir::Shape& a, const ir::Shape& b, std::size_t axis, const char* scope) {
  ir::Shape whole = a;
  whole[axis] += b[axis];
  return text_of(part_places({stored(a, scope), stored(b, scope)}, stored(whole, scope), axis));
}

TEST(PartPlaces, AreRectanglesOfTheWhole) {
  // Groups of channels of one picture are rows below one another.
  EXPECT_EQ(places({1, 2, 5, 6, 4}, {1, 3, 5, 6, 4}, 1, "texture"), "0,0 10,0");
  EXPECT_EQ(places({1, 2, 5, 6, 4}, {1, 3, 5, 6, 4}, 1, "global"), "0,0 0,240");
  // Columns lie beside one another for any number of rows.
  EXPECT_EQ(places({2, 2, 5, 6, 4}, {2, 2, 5, 3, 4}, 3, "texture"), "0,0 0,6");
}

TEST(PartPlaces, InterleavedPartsHaveNone) {
  // Two pictures: the channels of the second lie between those of the first.
  EXPECT_EQ(places({2, 2, 5, 6, 4}, {2, 3, 5, 6, 4}, 1, "texture"), "none");
  EXPECT_EQ(places({2, 2, 5, 6, 4}, {2, 3, 5, 6, 4}, 1, "global"), "none");
  EXPECT_EQ(places({1, 2, 5, 6, 4}, {1, 2, 5, 3, 4}, 3, "global"), "none");
  // The second part would begin within a texel.
  EXPECT_EQ(places({5, 6, 3}, {5, 6, 4}, 2, "texture"), "none");
}

}  // namespace
}  // namespace texloom::graph
