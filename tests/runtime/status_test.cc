#include "support/status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace texloom {
namespace {

TEST(Status, SuccessHasNoText) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().to_string(), "ok");
  EXPECT_TRUE(Status().with_context("while testing").ok());
}

TEST(Status, ContextGoesBeforeTheMessageAndKeepsTheCode) {
  const Status status = make_error(StatusCode::NotFound, "no {}", "kernel").with_context("plan");
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_EQ(status.message(), "plan: no kernel");
  EXPECT_EQ(status.to_string(), "not found: plan: no kernel");
}

TEST(Status, EveryCodeHasANameOfItsOwn) {
  std::vector<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::Internal); ++code) {
    const std::string_view name = to_string(static_cast<StatusCode>(code));
    EXPECT_NE(name, "unknown status");
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 0) << name;
    names.push_back(name);
  }
}

Result<int> half(int value) {
  if (value % 2 != 0) return invalid_argument("{} is odd", value);
  return value / 2;
}

Result<int> quarter(int value) {
  TL_ASSIGN_OR_RETURN(const int first, half(value));
  TL_ASSIGN_OR_RETURN(const int second, half(first));
  return second;
}

Status check_even(int value) {
  TL_RETURN_IF_ERROR(half(value).status());
  return {};
}

TEST(Result, MacrosHandErrorsOn) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
  EXPECT_TRUE(check_even(2).ok());
  EXPECT_EQ(check_even(3).code(), StatusCode::InvalidArgument);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 7);
}

TEST(Result, ReachesIntoItsValue) {
  Result<std::string_view> result = std::string_view("text");
  const Result<std::string_view>& constant = result;
  EXPECT_EQ(result->size(), 4u);
  EXPECT_EQ(constant->size(), 4u);
  EXPECT_EQ(*constant, "text");
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorEndsWithItsText) {
  EXPECT_DEATH(static_cast<void>(*half(3)), "3 is odd");
  EXPECT_DEATH(static_cast<void>(Result<int>(Status())), "invalid use of a Result");
}

}  // namespace
}  // namespace texloom
