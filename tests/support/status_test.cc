#include "support/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace texloom {
namespace {

TEST(Status, SuccessHasNoMessage) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::Ok);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.to_string(), "ok");
  EXPECT_TRUE(status.with_context("reading").ok());
  EXPECT_EQ(status.with_context("reading").message(), "");
}

TEST(Status, EveryCodeHasAName) {
  const std::vector<std::pair<StatusCode, std::string>> names = {
      {StatusCode::Ok, "ok"},
      {StatusCode::InvalidArgument, "invalid argument"},
      {StatusCode::NotFound, "not found"},
      {StatusCode::Unavailable, "unavailable"},
      {StatusCode::OutOfMemory, "out of memory"},
      {StatusCode::BuildFailed, "build failed"},
      {StatusCode::DeviceError, "device error"},
      {StatusCode::Unimplemented, "unimplemented"},
      {StatusCode::Internal, "internal error"},
  };
  for (const auto& [code, name] : names) EXPECT_EQ(to_string(code), name);
  EXPECT_EQ(to_string(static_cast<StatusCode>(200)), "unknown status");
}

TEST(Status, TextHasCodeAndMessage) {
  const Status status(StatusCode::NotFound, "no device 3");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.to_string(), "not found: no device 3");
  const Status outer = status.with_context("opening");
  EXPECT_EQ(outer.code(), StatusCode::NotFound);
  EXPECT_EQ(outer.message(), "opening: no device 3");
}

TEST(Status, ErrorsAreFormatted) {
  const Status made = make_error(StatusCode::DeviceError, "{} failed with {}", "clFinish", -36);
  EXPECT_EQ(made.code(), StatusCode::DeviceError);
  EXPECT_EQ(made.message(), "clFinish failed with -36");
  const Status bad = invalid_argument("size {}", 0);
  EXPECT_EQ(bad.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(bad.message(), "size 0");
}

Result<int> half(int n) {
  if (n % 2 != 0) return invalid_argument("{} is odd", n);
  return n / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = half(8);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(good.status().ok());
  EXPECT_EQ(good.value(), 4);
  EXPECT_EQ(*good, 4);
  *good = 5;
  EXPECT_EQ(std::as_const(good).value(), 5);
  EXPECT_EQ(*std::as_const(good), 5);

  const Result<int> bad = half(7);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().message(), "7 is odd");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  EXPECT_EQ(**result, 3);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 3);
  const std::unique_ptr<int> again = Result<std::unique_ptr<int>>(std::make_unique<int>(4)).value();
  EXPECT_EQ(*again, 4);
}

TEST(Result, ReachesMembers) {
  Result<std::string> text = std::string("abc");
  EXPECT_EQ(text->size(), 3U);
  EXPECT_EQ(std::as_const(text)->size(), 3U);
}

TEST(ResultDeathTest, MisuseEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH((void)half(7).value(), "invalid use of a Result \\(invalid argument: 7 is odd\\)");
  EXPECT_DEATH((void)Result<int>{Status()}, "invalid use of a Result \\(ok\\)");
}

Status check_both(int a, int b, int& reached) {
  TL_RETURN_IF_ERROR(half(a).status());
  reached = 1;
  TL_RETURN_IF_ERROR(half(b).status());
  reached = 2;
  return {};
}

TEST(Macros, ReturnIfErrorLeavesAtTheFirstError) {
  int reached = 0;
  EXPECT_EQ(check_both(3, 5, reached).message(), "3 is odd");
  EXPECT_EQ(reached, 0);
  EXPECT_EQ(check_both(2, 5, reached).message(), "5 is odd");
  EXPECT_EQ(reached, 1);
  EXPECT_TRUE(check_both(2, 4, reached).ok());
  EXPECT_EQ(reached, 2);
}

Result<int> quarter(int n) {
  TL_ASSIGN_OR_RETURN(const int once, half(n));
  TL_ASSIGN_OR_RETURN(const int twice, half(once));
  return twice;
}

TEST(Macros, AssignOrReturn) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(5).status().message(), "5 is odd");
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
}

}  // namespace
}  // namespace texloom
