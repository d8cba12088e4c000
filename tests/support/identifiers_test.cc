// Tests valid identifiers, and the words that kernels' parameters must not have as names.
#include "support/identifiers.h"

#include <gtest/gtest.h>

namespace texloom {
namespace {

// An identifier does not begin with a digit, and has only ASCII letters.
TEST(Identifiers, HaveLettersDigitsAndUnderscores) {
  for (const char* name : {"a", "_", "Conv2d", "tl_0"}) EXPECT_TRUE(is_identifier(name)) << name;
  for (const char* name : {"", "2d", "a b", "a.b", "Conv+Relu", "\xC3\xA4"})
    EXPECT_FALSE(is_identifier(name)) << name;
}

TEST(WordsThatNoParameterHas, AreKeywordsTypesAndMacros) {
  for (const char* word : {"half", "float4", "kernel", "image2d_t", "class", "NAN", "__x", "M_PI"})
    EXPECT_TRUE(words_that_no_parameter_has().contains(word)) << word;
  // A parameter may have a function's name, or a name that begins like one.
  for (const char* name : {"step", "max", "half_width", "image2d", "get_x", "x4", "alpha"})
    EXPECT_FALSE(words_that_no_parameter_has().contains(name)) << name;
}

}  // namespace
}  // namespace texloom
