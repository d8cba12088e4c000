// Compares two ways of doing one thing, measured in turns.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/status.h"

namespace texloom::comparison {

// One sample, in the comparison's unit.
using Arm = std::function<Result<double>()>;

struct Bar {
  enum class Kind : std::uint8_t {
    RatioAtMost,
    RatioAtLeast,
    OursAtMost,  // in the unit
  };
  Kind kind = Kind::RatioAtMost;
  double value = 0;
};

struct Comparison {
  std::string name;
  std::string unit;
  Arm ours;
  Arm peer = {};  // none if the bar is an absolute number
  std::optional<Bar> bar = {};
};

struct Row {
  double ours = 0;  // medians
  std::optional<double> peer;
  std::optional<double> ratio;  // the median of the rounds' ratios, ours / peer
  std::optional<bool> passes;   // if there is a bar
};

// Measures all comparisons, one after the other, in each of `rounds` rounds after a warm-up round.
// Each round runs both arms; which arm runs first alternates. Calls `told` before each round.
Result<std::vector<Row>> measure(const std::vector<Comparison>& comparisons, int rounds,
                                 const std::function<void(int)>& told);

// The mean time of `count` calls, in nanoseconds. Stops at the first error.
template <typename Call>
Result<double> nanoseconds_per_call(int count, const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) TL_RETURN_IF_ERROR(call());
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  return time.count() / count;
}

}  // namespace texloom::comparison
