// Checks that parsing a program's text gives an equal program, which prints the same text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ir/equal.h"
#include "ir/text/parse.h"
#include "support/diagnostic.h"

namespace texloom::ir {

inline void expect_round_trip(const Program& program, PrintOptions options = {}) {
  const std::string text = to_string(program, options);
  SCOPED_TRACE(text);
  try {
    const Program again = parse_program(text, "again.tl");
    EXPECT_TRUE(equal(program, again)) << to_string(again);
    EXPECT_EQ(to_string(again, options), text);
  } catch (const UserError& error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace texloom::ir
