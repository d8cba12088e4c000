// What hal_fuzz is asked for.
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

// What is wrong with the arguments; empty where nothing is.
std::string parse(int argc, char** argv, Options& options);

}  // namespace texloom::hal::fuzz
