// Measures the cost of waiting for each operator, for chains of compiled kernels and custom
// operators on one device.
//
//     build/release/apps/texloom-bench-commit [--device DEVICE] [--rounds N] [--elements N] > FILE
//
// Writes JSON to standard output, and progress to standard error. For each chain it has the median
// times of a run in two modes, which run in turns: "adaptive", where a run is one recording that is
// waited for at its end, and "wait_each", where each operator is submitted and waited for. The JSON
// also has the median of the rounds' ratios, and the prediction of a model: if an operator takes T
// and a wait takes S, n operators take n (T + S) in place of n T + S. benchmarks/commit/picture.py
// draws the result.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/bench-commit/chain.h"
#include "apps/comparison/comparison.h"
#include "runtime/drivers/opencl/driver.h"
#include "runtime/hal/driver.h"

namespace texloom::bench_commit {

using namespace comparison;

namespace {

constexpr const char* kUsage =
    R"(usage: texloom-bench-commit [--device DEVICE] [--rounds N] [--elements N]

  --elements N     only chains of at most N elements
  --device DEVICE  an ordinal or id of an OpenCL device; default: the first
  --rounds N       how often each chain is measured (15); less often if that takes long
)";

struct Options {
  std::string device;
  int rounds = 15;
  int elements = 0;  // all sizes
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const std::string_view name = argv[i], value = argv[i + 1];
    if (name == "--device") {
      options.device = value;
    } else if (name == "--rounds" || name == "--elements") {
      int& number = name == "--rounds" ? options.rounds : options.elements;
      const char* end = value.data() + value.size();
      const auto [stop, error] = std::from_chars(value.data(), end, number);
      if (error != std::errc() || stop != end || number < 1) return false;
    } else {
      return false;
    }
  }
  return true;
}

constexpr double kSample = 2000;  // microseconds that a sample should take
constexpr double kSize = 60e6;    // microseconds that all samples of an array size should take

constexpr int kPairs[] = {1, 2, 5, 10, 20, 50, 100};  // of a compiled kernel and a custom operator

// Runs a chain in samples of about kSample.
struct SizedArm {
  Arm arm;
  double sample = 0;  // microseconds
};

Result<SizedArm> arm_of(const std::shared_ptr<hal::Device>& device, const Chain& chain,
                        const std::optional<runtime::CommitPolicy>& policy) {
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<ChainProgram> program,
                      ChainProgram::create(device, chain, policy));
  TL_RETURN_IF_ERROR(program->time(2).status());
  TL_RETURN_IF_ERROR(program->check());
  TL_ASSIGN_OR_RETURN(const double once, program->time(2));
  const int times = std::clamp(static_cast<int>(kSample / once), 1, 200);
  return SizedArm{[program, times] { return program->time(times); }, once * times};
}

// The chains of all lengths, measured in turns. Ours waits for each operator; the peer is adaptive.
Result<std::vector<Row>> measure_lengths(const std::shared_ptr<hal::Device>& device,
                                         std::uint32_t elements, int rounds) {
  std::vector<Comparison> comparisons;
  double round = 0;  // microseconds
  for (const int pairs : kPairs) {
    const Chain chain{pairs, elements};
    const std::string name = fmt::format("{} elements, {} custom operators", elements, pairs);
    Result<SizedArm> adaptive = arm_of(device, chain, {});
    if (!adaptive.ok()) return adaptive.status().with_context(name + ", adaptive");
    Result<SizedArm> waiting =
        arm_of(device, chain, runtime::CommitPolicy{.waits = runtime::Waits::AfterEach});
    if (!waiting.ok()) return waiting.status().with_context(name + ", wait_each");
    round += adaptive->sample + waiting->sample;
    comparisons.push_back({.name = name,
                           .unit = "us",
                           .ours = std::move(waiting->arm),
                           .peer = std::move(adaptive->arm)});
  }
  const int most = static_cast<int>(kSize / round);
  rounds = std::clamp(most, std::min(3, rounds), rounds);
  return comparison::measure(comparisons, rounds, [&](int number) {
    fmt::print(stderr, "{} elements: round {} of {}\n", elements, number, rounds);
  });
}

Status run(const Options& options) {
  TL_ASSIGN_OR_RETURN(const auto driver, hal::opencl::create_driver());
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                      driver->open_by_name(options.device));
  const hal::DeviceInfo& info = device->info();
  fmt::print("{{\"device\": \"{}\", \"driver\": \"{}\", \"rounds\": {}, \"rows\": [", info.name,
             info.driver_version, options.rounds);
  const char* separator = "";
  for (const std::uint32_t elements : {1'000U, 10'000U, 100'000U, 1'000'000U, 4'000'000U}) {
    if (options.elements != 0 && elements > static_cast<std::uint32_t>(options.elements)) continue;
    TL_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                        measure_lengths(device, elements, options.rounds));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      fmt::print(
          "{}\n  {{\"elements\": {}, \"custom\": {}, \"operators\": {}, \"adaptive_us\": {:.3f}, "
          "\"wait_each_us\": {:.3f}, \"ratio\": {:.4f}}}",
          separator, elements, kPairs[i], 2 * kPairs[i], *rows[i].peer, rows[i].ours,
          *rows[i].ratio);
      separator = ",";
    }
  }
  fmt::print("\n]}}\n");
  return {};
}

}  // namespace
}  // namespace texloom::bench_commit

int main(int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    fmt::print("{}", texloom::bench_commit::kUsage);
    return 0;
  }
  texloom::bench_commit::Options options;
  if (!texloom::bench_commit::parse(argc, argv, options)) {
    fmt::print(stderr, "{}", texloom::bench_commit::kUsage);
    return 2;
  }
  const texloom::Status status = texloom::bench_commit::run(options);
  if (!status.ok()) fmt::print(stderr, "texloom-bench-commit: {}\n", status.to_string());
  return status.ok() ? 0 : 1;
}
