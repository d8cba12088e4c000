// A libFuzzer target: what fuzzer.cc calls with each text.
#pragma once

#include <string_view>

namespace texloom::fuzz {

// Whatever it throws is a finding.
void run_one(std::string_view text);

}  // namespace texloom::fuzz
