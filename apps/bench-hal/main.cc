// Prints a table of the HAL's overhead next to bare OpenCL calls, on one device.
//
//     build/release/apps/texloom-bench-hal [--device DEVICE] [--only TEXT] [--rounds N]
//                                          [--json FILE]
//
// Both arms of a row run in turns; times and bandwidths are medians, and a ratio is the median of
// the rounds' ratios. The exit status does not depend on the bars (the required results), because a
// busy machine misses some of them.

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/bench-hal/rows.h"
#include "apps/comparison/comparison.h"

namespace texloom::bench_hal {

using namespace comparison;

namespace {

constexpr const char* kUsage =
    R"(usage: texloom-bench-hal [--device DEVICE] [--only TEXT] [--rounds N] [--json FILE]

  --device DEVICE  an ordinal or id of an OpenCL device, or a path "opencl://…"; default: the first
  --only TEXT      run only the rows whose names contain TEXT
  --rounds N       how often each arm is measured (31)
  --json FILE      also write the table to FILE
)";

struct Options {
  std::string device;
  std::string only;
  int rounds = 31;
  std::string json;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return false;
    const std::string_view value = argv[i + 1];
    if (name == "--device") {
      options.device = value;
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--json") {
      options.json = value;
    } else if (name == "--rounds") {
      const char* begin = std::to_address(value.begin());
      const char* end = begin + value.size();
      const auto [stop, error] = std::from_chars(begin, end, options.rounds);
      if (error != std::errc() || stop != end || options.rounds < 1) return false;
    } else {
      return false;
    }
  }
  return true;
}

std::string describe(const Bar& bar) {
  switch (bar.kind) {
    case Bar::Kind::RatioAtMost:
    case Bar::Kind::OursAtMost:
      return fmt::format("<= {}", bar.value);
    case Bar::Kind::RatioAtLeast:
      return fmt::format(">= {}", bar.value);
  }
  return {};
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "";
}

void print_table(const Rows& rows, const std::vector<Row>& results) {
  fmt::print("{}, {}, driver {}\n\n", rows.device.name, rows.device.platform,
             rows.device.driver_version);
  fmt::print("{:66}{:>10}{:>10}  {:6}{:>8}  {:8}\n", "medians", "ours", "peer", "", "ratio", "bar");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Comparison& comparison = rows.comparisons[i];
    const Row& row = results[i];
    const std::string ratio = row.ratio ? fmt::format("{:.3f}", *row.ratio) : "";
    std::string bar = comparison.bar ? describe(*comparison.bar) : "";
    if (row.passes && !*row.passes) bar += "  MISSED";
    fmt::print("{:66}{:>10}{:>10}  {:6}{:>8}  {}\n", comparison.name, number(row.ours),
               number(row.peer), comparison.unit, ratio, bar);
  }
  for (const std::string& each : rows.left_out) fmt::print("left out: {}\n", each);
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

std::string json_of(const Rows& rows, const std::vector<Row>& results, int rounds) {
  const auto or_null = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("null");
  };
  std::string json =
      fmt::format("{{\"device\": {}, \"platform\": {}, \"driver\": {}, \"rounds\": {}, \"rows\": [",
                  json_string(rows.device.name), json_string(rows.device.platform),
                  json_string(rows.device.driver_version), rounds);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Comparison& comparison = rows.comparisons[i];
    const Row& row = results[i];
    json += fmt::format(
        "{}\n  {{\"name\": {}, \"unit\": {}, \"ours\": {}, \"peer\": {}, \"ratio\": {}, "
        "\"bar\": {}, \"passes\": {}}}",
        i == 0 ? "" : ",", json_string(comparison.name), json_string(comparison.unit), row.ours,
        or_null(row.peer), or_null(row.ratio),
        comparison.bar ? json_string(describe(*comparison.bar)) : "null", or_null(row.passes));
  }
  return json + "\n]}\n";
}

Status write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = file != nullptr && std::fclose(file) == 0 && written;
  if (written) return {};
  return make_error(StatusCode::Unavailable, "cannot write {}: {}", path, std::strerror(errno));
}

Status run(const Options& options) {
  fmt::print(stderr, "building kernels\n");
  TL_ASSIGN_OR_RETURN(Rows rows, make_rows(options.device));
  std::erase_if(rows.comparisons, [&](const Comparison& comparison) {
    return comparison.name.find(options.only) == std::string::npos;
  });
  if (rows.comparisons.empty())
    return make_error(StatusCode::NotFound, "no row has \"{}\" in its name", options.only);
  const auto tell = [&](int round) {
    if (round % 5 == 0) fmt::print(stderr, "round {} of {}\n", round, options.rounds);
  };
  TL_ASSIGN_OR_RETURN(const std::vector<Row> results,
                      measure(rows.comparisons, options.rounds, tell));
  print_table(rows, results);
  if (options.json.empty()) return {};
  return write_file(options.json, json_of(rows, results, options.rounds));
}

}  // namespace
}  // namespace texloom::bench_hal

int main(int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    fmt::print("{}", texloom::bench_hal::kUsage);
    return 0;
  }
  texloom::bench_hal::Options options;
  if (!texloom::bench_hal::parse(argc, argv, options)) {
    fmt::print(stderr, "{}", texloom::bench_hal::kUsage);
    return 2;
  }
  const texloom::Status status = texloom::bench_hal::run(options);
  if (!status.ok()) fmt::print(stderr, "texloom-bench-hal: {}\n", status.to_string());
  return status.ok() ? 0 : 1;
}
