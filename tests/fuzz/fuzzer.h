// Declares the function of a libFuzzer target, which fuzzer.cc calls with each text.
#pragma once

#include <string_view>

namespace texloom::fuzz {

// Every exception is a finding.
void run_one(std::string_view text);

}  // namespace texloom::fuzz
