// libFuzzer target: any text is a program or a diagnostic, and a program can be printed and parsed.
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/fuzzer.h"

namespace texloom::fuzz {

void run_one(std::string_view text) { checked_program(text); }

}  // namespace texloom::fuzz
