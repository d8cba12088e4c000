#include "tests/fuzz/hal/options.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>

namespace texloom::hal::fuzz {

const char* const kUsage = R"(usage: hal_fuzz [OPTION...]

Random sequences of calls of the HAL, valid ones and misuse, against a model of what has to come of
them.

  --driver null|host  the driver (host)
  --seed N            of the first sequence (1); the next ones are N + 1, N + 2, …
  --count N           so many sequences (200, unless --minutes is given)
  --minutes M         as many as fit
  --calls N           of each sequence (200)
  --threads N         sequences at a time, of threads that share a device (1): what they come to
                      depends on when each of them runs
  --verbose           every call, before it is made
  --help              this text

The exit status is 0 when all went as it should, 1 after a failure, 3 where a sequence hangs, 130
after Ctrl-C.
)";

namespace {

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const char* begin = std::to_address(text.begin());
  const auto [end, error] = std::from_chars(begin, begin + text.size(), number);
  return error == std::errc() && end == begin + text.size();
}

std::string parse_value(std::string_view name, std::string_view value, Options& options) {
  constexpr unsigned kMostThreads = 64;
  if (name == "--driver") {
    if (value != "null" && value != "host")
      return fmt::format("--driver is null or host, not \"{}\"", value);
    options.sequence.driver = value == "null" ? DriverKind::Null : DriverKind::Host;
  } else if (name == "--seed") {
    if (!parse_number(value, options.seed)) return fmt::format("--seed: no number: \"{}\"", value);
  } else if (name == "--count") {
    if (!parse_number(value, options.count.emplace()))
      return fmt::format("--count: no number: \"{}\"", value);
  } else if (name == "--calls") {
    if (!parse_number(value, options.sequence.calls))
      return fmt::format("--calls: no number: \"{}\"", value);
  } else if (name == "--minutes") {
    if (!parse_number(value, options.minutes.emplace()) || !(*options.minutes > 0))
      return fmt::format("--minutes: no time: \"{}\"", value);
  } else if (name == "--threads") {
    unsigned& threads = options.sequence.threads;
    if (!parse_number(value, threads) || threads == 0 || threads > kMostThreads)
      return fmt::format("--threads is a number from 1 to {}, not \"{}\"", kMostThreads, value);
  } else {
    return fmt::format("unknown option {}", name);
  }
  return {};
}

}  // namespace

std::string parse(int argc, char** argv, Options& options) {
  options.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return {};
    }
    if (name == "--verbose") {
      options.sequence.echo = true;
      continue;
    }
    if (!name.starts_with("--")) return fmt::format("unknown argument \"{}\"", name);
    if (i + 1 == argc) return fmt::format("{} needs a value, or is unknown", name);
    if (std::string fault = parse_value(name, argv[++i], options); !fault.empty()) return fault;
  }
  if (!options.count && !options.minutes) options.count = 200;
  return {};
}

}  // namespace texloom::hal::fuzz
