// Tests when two computations are equal (schedule/structural_hash.h).
#include "graph/computation.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "graph/text/computation_text.h"

namespace texloom::graph {
namespace {

constexpr const char* kScale = R"(computation 0 (in0) -> (out)
  symbol s: int32
placeholder in0: float32[s, 4]
compute out(i < s, j < 4): float32 = in0[i, j] * 2.0
  tag scale
  attributes "{\"rows\": 1}"
)";

// The computation with every `from` in its text replaced by `to`.
SharedComputation with(const std::string& from, const std::string& to) {
  std::string text = kScale;
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return parse_computation(text, "computation.tl");
}
SharedComputation unchanged() { return parse_computation(kScale, "computation.tl"); }

TEST(Computation, EqualTextsAreEqual) {
  const SharedComputation a = unchanged(), b = unchanged();
  EXPECT_TRUE(equal(*a, *b));
  EXPECT_EQ(structural_hash(*a), structural_hash(*b));
}

// A symbol stands for an extent of an input; the symbol's name does not matter.
TEST(Computation, SymbolsOfShapesNeedNotHaveEqualNames) {
  std::string text = kScale;
  for (const char* part : {"symbol s", "[s", "< s"})
    text.replace(text.find(part) + std::string(part).size() - 1, 1, "t");
  const SharedComputation own = unchanged(), other = parse_computation(text, "computation.tl");
  EXPECT_TRUE(equal(*own, *other));
  EXPECT_EQ(structural_hash(*own), structural_hash(*other));
}

TEST(Computation, DiffersInExpressionsShapesNamesTagsAndAttributes) {
  const SharedComputation own = unchanged();
  const std::pair<const char*, const char*> changes[] = {
      {"2.0", "3.0"}, {"4", "5"},          {" * ", " + "},
      {"out", "o"},   {"scale", "factor"}, {"rows", "columns"},
  };
  for (const auto& [from, to] : changes)
    EXPECT_FALSE(equal(*own, *with(from, to))) << from << " -> " << to;
}

}  // namespace
}  // namespace texloom::graph
