// mutate_packages [COUNT [SEED [native]]] changes package files at random, COUNT (10,000) times,
// opens each and runs each valid one on the driver `null` and in the interpreter; `native`: only
// files that also have native code, which is read, but never run. It prints how many are refused,
// loaded and run. It fails on a crash, a sanitizer's report, an exception, a file that takes more
// than a few seconds, or too much memory.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "support/sanitizer.h"
#include "tests/fuzz/package/mutator.h"
#include "tests/fuzz/package/package_run.h"

namespace texloom::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMaxSeconds = 5;  // for one file; a usual one takes milliseconds
// KiB by which the process may grow: a run may use 4 MiB on each device, and drivers keep some.
// Sanitizers keep freed memory, up to their own limit.
constexpr long kMaxGrowth = 300 << 10;

long peak_memory() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;  // KiB
}

int run(const std::vector<std::string>& arguments) {
  const bool native = arguments.size() == 3 && arguments[2] == "native";
  if (arguments.size() > 3 || (arguments.size() == 3 && !native)) {
    fmt::print(stderr, "usage: mutate_packages [COUNT [SEED [native]]]\n");
    return 2;
  }
  const int count = arguments.empty() ? 10'000 : std::stoi(arguments[0]);
  const std::uint64_t seed = arguments.size() > 1 ? std::stoull(arguments[1]) : 1;
  const std::vector<Bytes> seeds = native ? native_seed_packages() : seed_packages();
  PackageRunner runner;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (runner.run(seeds[i]) == Outcome::Ran) continue;
    fmt::print("package {} does not run as it is\n", i);
    return 1;
  }
  const long before = peak_memory();
  PackageMutator mutator(seed, seeds);
  std::array<int, 3> outcomes = {};
  double slowest = 0;
  for (int i = 0; i < count; ++i) {
    const Bytes file = mutator.changed();
    const auto begin = Clock::now();
    try {
      ++outcomes[static_cast<std::size_t>(runner.run(file))];
    } catch (const std::exception& error) {
      fmt::print("change {} of seed {}: {}\n", i, seed, error.what());
      return 1;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    slowest = std::max(slowest, seconds);
    if (seconds > kMaxSeconds) {
      fmt::print("change {} of seed {} takes {:.1f} s\n", i, seed, seconds);
      return 1;
    }
  }
  const long growth = peak_memory() - before;
  fmt::print(
      "{} changes of {} packages, seed {}: {} refused, {} loaded but not run, {} run; the "
      "slowest took {:.0f} ms; memory grew by {} KiB\n",
      count, seeds.size(), seed, outcomes[0], outcomes[1], outcomes[2], slowest * 1000, growth);
  return kAddressSanitizer || growth <= kMaxGrowth ? 0 : 1;
}

}  // namespace
}  // namespace texloom::fuzz

int main(int argc, char** argv) {
  try {
    return texloom::fuzz::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "mutate_packages: {}\n", error.what());
    return 2;
  }
}
