// Randomly mutated texts parse or give diagnostics, never crash. tests/fuzz/mutate_texts.cc tests
// other texts in the same way, for any number of rounds.
#include <gtest/gtest.h>

#include <string>

#include "ir/equal.h"
#include "ir/text/parse.h"
#include "support/diagnostic.h"
#include "tests/ir/text/mutator.h"
#include "tests/ir/text/program_texts.h"

namespace texloom::ir {
namespace {

constexpr int kMutations = 20'000;

TEST(ParseMutations, AreProgramsOrDiagnostics) {
  Mutator mutator(1, kProgramTexts);
  int programs = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutator.changed();
    SCOPED_TRACE(text);
    try {
      const Program program = parse_program(text, "p.tl");
      ++programs;
      const std::string printed = to_string(program, {.locations = i % 2 == 1});
      const Program again = parse_program(printed, "p.tl");
      ASSERT_TRUE(equal(program, again)) << printed;
      ASSERT_EQ(to_string(again, {.locations = i % 2 == 1}), printed);
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      ASSERT_TRUE(d.location.known()) << error.what();
      ASSERT_FALSE(d.message.empty());
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }
  // Both outcomes occur.
  EXPECT_GT(programs, kMutations / 25);
  EXPECT_LT(programs, kMutations / 2);
}

}  // namespace
}  // namespace texloom::ir
