#include "support/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace texloom {
namespace {

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Check, TextNamesConditionMessageAndPlace) {
  EXPECT_EQ(message_of([] { check_failed("src/a.cc", 7, "n > 0", "n is -1"); }),
            "internal error: check failed: n > 0: n is -1 (src/a.cc:7); this is a bug in Texloom, "
            "please report it with the script that reproduces it");
  EXPECT_EQ(message_of([] { check_failed("src/a.cc", 7, "n > 0"); }),
            "internal error: check failed: n > 0 (src/a.cc:7); this is a bug in Texloom, please "
            "report it with the script that reproduces it");
}

TEST(Check, ThrowsOnlyWhenTheConditionIsFalse) {
  const int n = 1;
  EXPECT_NO_THROW(TL_CHECK(n == 1));
  EXPECT_THAT(message_of([&] { TL_CHECK(n == 2, "n is one"); }),
              testing::HasSubstr("check failed: n == 2: n is one ("));
  EXPECT_THAT(message_of([&] { TL_CHECK(n == 2); }), testing::HasSubstr("check failed: n == 2 ("));
}

// A check may be the only statement of a branch.
TEST(Check, IsOneStatement) {
  int reached = 0;
  if (reached == 1)
    TL_CHECK(false);
  else
    reached = 2;
  EXPECT_EQ(reached, 2);
}

TEST(Check, UnreachableAlwaysThrows) {
  EXPECT_THAT(message_of([] { TL_UNREACHABLE(); }), testing::HasSubstr("unreachable ("));
  EXPECT_THAT(message_of([] { TL_UNREACHABLE("an enumerator"); }),
              testing::HasSubstr("unreachable: an enumerator ("));
}

}  // namespace
}  // namespace texloom
