#include "support/function_ref.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace texloom {
namespace {

int twice(FunctionRef<int(int)> f) { return f(f(1)); }

TEST(FunctionRef, CallsWhatItBorrows) {
  int calls = 0;
  const auto add = [&](int x) {
    ++calls;
    return x + 10;
  };
  EXPECT_EQ(twice(add), 21);
  EXPECT_EQ(twice([](int x) { return x * 3; }), 9);
  EXPECT_EQ(calls, 2);
}

// A call runs the referenced callable itself, not a copy.
TEST(FunctionRef, KeepsTheStateOfTheCallable) {
  struct Counter {
    int count = 0;
    int operator()(int step) { return count += step; }
  } counter;
  const FunctionRef<int(int)> f(counter);
  f(2);
  const FunctionRef<int(int)> copy = f;
  EXPECT_EQ(copy(3), 5);
  EXPECT_EQ(counter.count, 5);
}

TEST(FunctionRef, ForwardsArgumentsAndResults) {
  const auto take = [](std::unique_ptr<int> p, std::string& out) -> std::string& {
    out += std::to_string(*p);
    return out;
  };
  const FunctionRef<std::string&(std::unique_ptr<int>, std::string&)> f(take);
  std::string text = "n";
  EXPECT_EQ(&f(std::make_unique<int>(7), text), &text);
  EXPECT_EQ(text, "n7");
}

}  // namespace
}  // namespace texloom
