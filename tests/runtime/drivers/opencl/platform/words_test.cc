#include "runtime/drivers/opencl/platform/words.h"

#include <gtest/gtest.h>

#include <string>

namespace texloom::hal::opencl {
namespace {

TEST(WordsTest, AnyWhiteSpaceSeparates) {
  for (const std::string space : {" ", "\t", "\n", "\r\n", " \v\f "}) {
    EXPECT_TRUE(has_word("-a" + space + "-b", "-a"));
    EXPECT_TRUE(has_word("-a" + space + "-b", "-b"));
    EXPECT_TRUE(has_word(space + "-b" + space, "-b"));
    EXPECT_FALSE(has_word("-a" + space + "-b", "-a" + space + "-b"));
  }
}

TEST(WordsTest, PartsOfWordsAreNone) {
  EXPECT_TRUE(has_word("fp16_not fp16", "fp16"));
  EXPECT_FALSE(has_word("fp16_not xfp16 x-fp16", "fp16"));
  EXPECT_FALSE(has_word("", "fp16"));
  EXPECT_FALSE(has_word(" a  b ", ""));
}

}  // namespace
}  // namespace texloom::hal::opencl
