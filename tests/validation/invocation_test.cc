#include "validation/invocation.h"

#include <gtest/gtest.h>

#include "lower/te_text.h"
#include "support/diagnostic.h"

namespace texloom::validation {
namespace {

lower::Lowering parsed(const std::string& placeholder, const std::string& directives = "") {
  return lower::parse_lowering(
      "program main stage=te target=\"opencl\"\n  symbol n: int32\n  param X\n  param Y\n\n" +
          placeholder + "\n" + directives +
          "\ncompute Y(i < n): float32 = 0.0\n  output\n  bind i blockIdx.x\n",
      "p.tl");
}

// The call gives the extents of symbolic shapes.
TEST(Invocation, SymbolsAreNumbersOfTheCall) {
  const auto arguments =
      arguments_at_call(parsed("placeholder X: float32[n * 2, 3]"), {{}, {{"n", 4}}});
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_EQ(arguments[0].shape, (ir::Shape{8, 3}));
  EXPECT_TRUE(arguments[0].is_input);
  EXPECT_EQ(arguments[1].shape, (ir::Shape{4}));
}

// A tensor with swapped axes is stored in an array of the swapped shape.
TEST(Invocation, PlacesFollowTransformLayout) {
  const auto arguments = arguments_at_call(
      parsed("placeholder X: float32[2, 3]", "  transform (i, j) -> (j, i)\n"), {{}, {{"n", 1}}});
  EXPECT_EQ(arguments[0].array_shape, (ir::Shape{3, 2}));
  EXPECT_EQ(arguments[0].places, (std::vector<int64_t>{0, 2, 4, 1, 3, 5}));
}

TEST(Invocation, EverySymbolHasAValueAndEveryArgumentAnElement) {
  const lower::Lowering lowering = parsed("placeholder X: float32[n - 1]");
  EXPECT_THROW(arguments_at_call(lowering, {}), UserError);
  EXPECT_THROW(arguments_at_call(lowering, {{}, {{"n", 1}}}), UserError);
  for (const char* shape : {"[0]", "[2000000000]", "[2000000000, 2000000000]"}) {
    const lower::Lowering other = parsed(std::string("placeholder X: float32") + shape);
    EXPECT_THROW(arguments_at_call(other, {{}, {{"n", 1}}}), UserError) << shape;
  }
}

}  // namespace
}  // namespace texloom::validation
