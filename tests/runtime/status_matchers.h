// GoogleTest matchers and assertions for Status.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "support/status.h"

#define TL_ASSERT_OK(expression)                  \
  do {                                            \
    const ::texloom::Status tl_ok = (expression); \
    ASSERT_TRUE(tl_ok.ok()) << tl_ok.to_string(); \
  } while (false)

#define TL_EXPECT_OK(expression)                  \
  do {                                            \
    const ::texloom::Status tl_ok = (expression); \
    EXPECT_TRUE(tl_ok.ok()) << tl_ok.to_string(); \
  } while (false)

namespace texloom {

// Tells GoogleTest how to print a status.
inline void PrintTo(const Status& status, std::ostream* stream) { *stream << status.to_string(); }

namespace hal {

// Matches the code and a part of the message: EXPECT_THAT(status, fails_with(code, part)).
MATCHER_P2(fails_with, code, part,
           std::string("is \"") + std::string(to_string(code)) + "\" and says \"" + part + "\"") {
  return arg.code() == code && arg.message().find(part) != std::string::npos;
}

}  // namespace hal
}  // namespace texloom
