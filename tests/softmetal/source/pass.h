// The token pass: converts a preprocessed MSL program for clang, records Metal's attributes, and
// checks Metal's rules that C++ lacks.
#pragma once

#include <map>
#include <string_view>

#include "tests/softmetal/source/program.h"

namespace softmetal {

struct PassOptions {
  std::string file = "program_source";  // the user's file, in line markers
  int version = 320;                    // of the language: 100 * major + 10 * minor
  // Values of function constants by index, as C++ expressions.
  std::map<int, std::string> constants;
};

Program run_token_pass(std::string_view preprocessed, const PassOptions& options);

}  // namespace softmetal
