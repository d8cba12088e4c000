// Checks that parsing the text of a schedule and its arguments gives the same text and lowers to an
// equal program.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ir/equal.h"
#include "lower/pipeline.h"
#include "lower/te_text.h"
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

// `program` is the result of lowering `lowering` up to the pass `last`.
inline void expect_text_is_lowered_to(const ir::Program& program, const Lowering& lowering,
                                      std::string_view last) {
  const std::string text = to_string(lowering, {.locations = true});
  SCOPED_TRACE(text);
  try {
    Lowering again = parse_lowering(text, "again.tl");
    for (const Pass& pass : pipeline()) {
      run_pass(pass, again);
      if (pass.name == last) break;
    }
    EXPECT_TRUE(equal(again.program, program)) << ir::to_string(again.program);
  } catch (const UserError& error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace texloom::lower::testing
