#include "runtime/custom/size_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/runtime/status_matchers.h"

namespace texloom::runtime {
namespace {

using hal::fails_with;

const std::vector<std::string> kNames = {"x.width", "n"};

std::int64_t value_of(const std::string& text) {
  const auto size = parse_size(text, kNames);
  EXPECT_TRUE(size.ok()) << size.status().to_string();
  return size.ok() ? *size->at(std::vector<std::int64_t>{10, 3}) : -1;
}

TEST(SizeText, Operators) {
  EXPECT_EQ(value_of("7"), 7);
  EXPECT_EQ(value_of("x.width - n - 1"), 6);  // from the left
  EXPECT_EQ(value_of("1 + 2 * n"), 7);
  EXPECT_EQ(value_of("(1 + 2) * n"), 9);
  EXPECT_EQ(value_of("x.width / n % 2"), 1);
  EXPECT_EQ(value_of(" min(x.width, n) + max( n , x.width )"), 13);
}

TEST(SizeText, IsReadAsTheSameSize) {
  for (const std::string text :
       {"7", "x.width - (n - 1)", "(n + 1) * 2 / n", "min(n, x.width % 3) - n * (n / 2)"}) {
    const auto size = parse_size(text, kNames);
    ASSERT_TRUE(size.ok()) << size.status().to_string();
    EXPECT_EQ(size_text(*size, kNames), text);
  }
  EXPECT_EQ(size_text(hal::Size::of(hal::Size::Op::Mul, -3, hal::Size::symbol(1)), kNames),
            "(0 - 3) * n");
}

TEST(SizeText, ErrorsNameTheCharacter) {
  const auto refused = [](const std::string& text, const std::string& part) {
    EXPECT_THAT(parse_size(text, kNames).status(), fails_with(StatusCode::InvalidArgument, part));
  };
  refused("", "expected a number or a name at character 1");
  refused("n +", "expected a number or a name at character 4");
  refused("n n", "unexpected text at character 3");
  refused("(n", "expected \")\" at character 3");
  refused("min(n)", "expected \",\" at character 6");
  refused("n + m", "unknown name \"m\" at character 5; help: known are x.width, n");
  refused("99999999999999999999", "beyond 64 bits at character 1");
  refused(std::string(1000, '('), "too many parentheses");
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += "min(";
  refused(nested, "too many parentheses");
}

}  // namespace
}  // namespace texloom::runtime
