// Tests the words that names of kernels' parameters must not be.
#include "support/reserved_words.h"

#include <gtest/gtest.h>

namespace texloom {
namespace {

TEST(WordsThatNoParameterHas, AreKeywordsTypesAndMacros) {
  for (const char* word : {"half", "float4", "kernel", "image2d_t", "class", "NAN", "__x", "M_PI"})
    EXPECT_TRUE(words_that_no_parameter_has().contains(word)) << word;
  // A parameter may hide a function, and begin like one.
  for (const char* name : {"step", "max", "half_width", "image2d", "get_x", "x4", "alpha"})
    EXPECT_FALSE(words_that_no_parameter_has().contains(name)) << name;
}

}  // namespace
}  // namespace texloom
