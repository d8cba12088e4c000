// The command-line options of hal_fuzz.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/fuzz/hal/sequence.h"

namespace texloom::hal::fuzz {

struct Options {
  std::string program;
  SequenceOptions sequence;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> count;
  std::optional<double> minutes;
  bool help = false;
};

extern const char* const kUsage;

// Returns what is wrong with the arguments, or an empty string.
std::string parse(int argc, char** argv, Options& options);

}  // namespace texloom::hal::fuzz
