// libFuzzer target: the interpreter must run any program or report what is wrong with it.
#include "apps/texloom-opt/interpretation.h"
#include "ir/text/parse.h"
#include "support/diagnostic.h"
#include "tests/fuzz/fuzzer.h"

namespace texloom::fuzz {

// Expressions may be so large that a step takes a millisecond.
constexpr int64_t kMaxSteps = 5'000;

void run_one(std::string_view text) {
  try {
    const ir::Program program = ir::parse_program(text, "p.tl", {.check_accesses = false});
    opt::interpret_random(program,
                          {.seed = 1, .one_image = text.size() % 2 == 1, .max_steps = kMaxSteps});
  } catch (const UserError&) {
    // The text is not a program, or the program takes too long.
  }
}

}  // namespace texloom::fuzz
