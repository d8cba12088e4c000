// Measures what it costs to wait for each operator, for chains of compiled kernels and custom
// operators on one device.
//
//     build/release/apps/texloom-bench-commit [--device DEVICE] [--rounds N] [--elements N] > FILE
//
// Writes JSON to standard output, and progress to standard error. For each chain it has the median
// times of a run in two modes, which run in turns: "adaptive", where a run is one recording that is
// waited for at its end, and "wait_each", where each operator is submitted and waited for. It also
// has the median of the rounds' ratios, and what the law predicts: with T, the time of an operator
// in a long chain, and S, what a wait adds to the only operator of a run, n operators take n (T +
// S) in place of n T + S. benchmarks/commit/picture.py draws the result.

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

  --elements N     only chains of at most so many elements
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

constexpr double kRow = 2e6;  // microseconds that all samples of a program should take

// How often to run a program in one sample, and how many samples to take.
struct Sampling {
  int times = 1, rounds = 1;
};

Result<Sampling> sampling_of(ChainProgram& program, int rounds) {
  TL_RETURN_IF_ERROR(program.time(2).status());
  TL_ASSIGN_OR_RETURN(const double once, program.time(2));
  const int times = std::clamp(static_cast<int>(kSample / once), 1, 200);
  const int most = static_cast<int>(kRow / (once * times));
  return Sampling{times, std::clamp(most, std::min(3, rounds), rounds)};
}

// The mean time of a run, in microseconds.
Arm arm_of(const std::shared_ptr<ChainProgram>& program, const Sampling& sampling) {
  return [program, sampling] { return program->time(sampling.times); };
}

Result<Row> measure(Arm ours, Arm peer, const Sampling& sampling) {
  const Comparison comparison{
      .name = "chain", .unit = "us", .ours = std::move(ours), .peer = std::move(peer)};
  TL_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                      comparison::measure({comparison}, sampling.rounds, [](int) {}));
  return rows.front();
}

// The median time of a run, in microseconds.
Result<double> time_of(const std::shared_ptr<hal::Device>& device, const Chain& chain, int rounds) {
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<ChainProgram> program,
                      ChainProgram::create(device, chain, {}));
  TL_ASSIGN_OR_RETURN(const Sampling sampling, sampling_of(*program, rounds));
  TL_ASSIGN_OR_RETURN(const Row row, measure(arm_of(program, sampling), {}, sampling));
  return row.ours;
}

// Ours waits for each operator; the peer is adaptive.
Result<Row> compare(const std::shared_ptr<hal::Device>& device, const Chain& chain, int rounds) {
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<ChainProgram> adaptive,
                      ChainProgram::create(device, chain, {}));
  TL_ASSIGN_OR_RETURN(
      const std::shared_ptr<ChainProgram> waiting,
      ChainProgram::create(device, chain, runtime::CommitPolicy{.wait_each = true}));
  TL_ASSIGN_OR_RETURN(const Sampling sampling, sampling_of(*adaptive, rounds));
  TL_RETURN_IF_ERROR(sampling_of(*waiting, rounds).status());
  TL_RETURN_IF_ERROR(adaptive->check().with_context("adaptive"));
  TL_RETURN_IF_ERROR(waiting->check().with_context("wait_each"));
  return measure(arm_of(waiting, sampling), arm_of(adaptive, sampling), sampling);
}

// T and S in microseconds, for arrays of this size.
struct Costs {
  double op = 0, wait = 0;
};

Result<Costs> costs_of(const std::shared_ptr<hal::Device>& device, std::uint32_t elements,
                       int rounds) {
  TL_ASSIGN_OR_RETURN(const double longer, time_of(device, {100, elements}, rounds));
  TL_ASSIGN_OR_RETURN(const double shorter, time_of(device, {50, elements}, rounds));
  TL_ASSIGN_OR_RETURN(const double single, time_of(device, {1, elements}, rounds));
  const double op = std::max((longer - shorter) / 100, 1e-3);
  // One pair, which is waited for once.
  return Costs{op, std::max(single - 2 * op, 0.0)};
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
    TL_ASSIGN_OR_RETURN(const Costs costs, costs_of(device, elements, options.rounds));
    for (const int pairs : {1, 2, 5, 10, 20, 50, 100}) {
      fmt::print(stderr, "{} elements, {} custom operators\n", elements, pairs);
      const Chain chain{pairs, elements};
      TL_ASSIGN_OR_RETURN(const Row row, compare(device, chain, options.rounds));
      const double n = chain.operators();
      const double law = n * (costs.op + costs.wait) / (n * costs.op + costs.wait);
      fmt::print(
          "{}\n  {{\"elements\": {}, \"custom\": {}, \"operators\": {}, \"adaptive_us\": {:.3f}, "
          "\"wait_each_us\": {:.3f}, \"ratio\": {:.4f}, \"operator_us\": {:.4f}, \"wait_us\": "
          "{:.4f}, \"law\": {:.4f}}}",
          separator, elements, pairs, chain.operators(), *row.peer, row.ours, *row.ratio, costs.op,
          costs.wait, law);
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
