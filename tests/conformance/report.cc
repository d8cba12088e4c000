#include "tests/conformance/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tests/conformance/tested_driver.h"

namespace texloom::hal::conformance {

namespace {

constexpr std::string_view kExcluded = "excluded: ";

std::string first_line(std::string_view text) {
  const std::size_t start = text.find_first_not_of('\n');
  if (start == std::string_view::npos) return "";
  return std::string(text.substr(start, text.find('\n', start) - start));
}

// Returns "Suite.Test" and "opencl" for the instance "Suite.Test/opencl_parameter".
std::pair<std::string, std::string> test_and_device(const ::testing::TestInfo& test) {
  const std::string_view name = test.name();
  const std::size_t slash = name.find('/');
  const std::string definition =
      fmt::format("{}.{}", test.test_suite_name(), name.substr(0, slash));
  if (slash == std::string_view::npos) return {definition, ""};
  const std::string_view instance = name.substr(slash + 1);
  return {definition, std::string(instance.substr(0, instance.find('_')))};
}

std::string cell(int passed, int failed, int excluded, int skipped) {
  std::string text;
  const auto add = [&](int count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(failed, "FAILED");
  add(passed, "passed");
  add(excluded, "excluded");
  add(skipped, "skipped");
  return text.empty() ? "-" : text;
}

int total(const std::map<std::string, int>& counts) {
  int sum = 0;
  for (const auto& [reason, count] : counts) sum += count;
  return sum;
}

}  // namespace

void Report::OnTestEnd(const ::testing::TestInfo& test) {
  const auto [definition, device] = test_and_device(test);
  if (!outcomes_.contains(definition)) tests_.push_back(definition);
  Outcomes& outcomes = outcomes_[definition][device];
  const ::testing::TestResult& result = *test.result();
  if (result.Failed()) {
    ++outcomes.failed;
  } else if (result.Skipped()) {
    std::string reason;
    for (int i = 0; i < result.total_part_count(); ++i)
      if (result.GetTestPartResult(i).skipped())
        reason = first_line(result.GetTestPartResult(i).message());
    if (reason.starts_with(kExcluded))
      ++outcomes.excluded[reason.substr(kExcluded.size())];
    else
      ++outcomes.skipped[reason];
  } else {
    ++outcomes.passed;
  }
}

void Report::print_table() const {
  fmt::print("\n| test |");
  for (const TestedDevice& device : tested_devices()) fmt::print(" {} |", device.label);
  fmt::print("\n| --- |");
  for (std::size_t i = 0; i < tested_devices().size(); ++i) fmt::print(" --- |");
  fmt::print("\n");
  for (const std::string& test : tests_) {
    fmt::print("| {} |", test);
    for (const TestedDevice& device : tested_devices()) {
      const auto& by_device = outcomes_.at(test);
      const auto found = by_device.find(device.label);
      const Outcomes outcomes = found == by_device.end() ? Outcomes() : found->second;
      fmt::print(" {} |", cell(outcomes.passed, outcomes.failed, total(outcomes.excluded),
                               total(outcomes.skipped)));
    }
    fmt::print("\n");
  }
}

void Report::print_summary() const {
  fmt::print("\n{} tests\n", tests_.size());
  for (const TestedDevice& device : tested_devices()) {
    Outcomes sum;
    for (const auto& [test, by_device] : outcomes_) {
      const auto found = by_device.find(device.label);
      if (found == by_device.end()) continue;
      sum.passed += found->second.passed;
      sum.failed += found->second.failed;
      for (const auto& [reason, count] : found->second.excluded)
        sum.excluded[test + ": " + reason] += count;
      for (const auto& [reason, count] : found->second.skipped) sum.skipped[reason] += count;
    }
    fmt::print("{}, {}: {}\n", device.label, device.described(),
               cell(sum.passed, sum.failed, total(sum.excluded), total(sum.skipped)));
    for (const auto& [reason, count] : sum.excluded)
      fmt::print("  excluded, {}: {}\n", count, reason);
    for (const auto& [reason, count] : sum.skipped)
      fmt::print("  skipped, {}: {}\n", count, reason);
  }
}

void Report::OnTestProgramEnd(const ::testing::UnitTest&) {
  if (whole_table_) print_table();
  print_summary();
  std::fflush(stdout);
}

}  // namespace texloom::hal::conformance
