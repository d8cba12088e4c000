// What is parsed from the text of a schedule with its arguments has that text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "lower/text.h"
#include "support/diagnostic.h"

namespace texloom::lower::testing {

inline void expect_te_round_trip(const Lowering& lowering, ir::PrintOptions options = {}) {
  const std::string text = to_string(lowering, options);
  SCOPED_TRACE(text);
  try {
    EXPECT_EQ(to_string(parse_lowering(text, "again.tl"), options), text);
  } catch (const UserError& error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace texloom::lower::testing
