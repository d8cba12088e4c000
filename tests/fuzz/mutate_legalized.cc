// mutate_legalized [COUNT [SEED]] changes legalized programs at random until COUNT (20,000) of the
// changed texts are programs, and checks that each one is printed as OpenCL C or refused by a
// verifier. It runs in the root of the checkout, whose programs it changes.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "tests/codegen/opencl/mutated_kernels.h"

namespace texloom::fuzz {
namespace {

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() > 2) {
    fmt::print(stderr, "usage: mutate_legalized [COUNT [SEED]]\n");
    return 2;
  }
  const int count = arguments.empty() ? 20'000 : std::stoi(arguments[0]);
  const uint64_t seed = arguments.size() > 1 ? std::stoull(arguments[1]) : 1;
  const auto counts = codegen::opencl::testing::print_mutated(count, seed);
  fmt::print(
      "{} changes of {} texts, seed {}: {} programs, of which {} printed, {} refused by the rules "
      "of the stage, {} by those of the dialect, nothing else\n",
      counts.changes, counts.texts, seed,
      counts.printed + counts.refused_by_ir + counts.refused_by_dialect, counts.printed,
      counts.refused_by_ir, counts.refused_by_dialect);
  return 0;
}

}  // namespace
}  // namespace texloom::fuzz

int main(int argc, char** argv) {
  try {
    return texloom::fuzz::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "mutate_legalized: {}\n", error.what());
    return 1;
  }
}
