// Reports the outcome of the suite as a table of tests by devices.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace texloom::hal::conformance {

// Counts the outcomes of each test definition on each device and prints them after the run: one
// line per device and per reason, and with `whole_table` also one per test.
class Report final : public ::testing::EmptyTestEventListener {
 public:
  explicit Report(bool whole_table) : whole_table_(whole_table) {}

  void OnTestEnd(const ::testing::TestInfo& test) override;
  void OnTestProgramEnd(const ::testing::UnitTest& unit_test) override;

 private:
  struct Outcomes {
    int passed = 0, failed = 0;
    // Counts of instances by reason.
    std::map<std::string, int> excluded, skipped;
  };

  void print_table() const;
  void print_summary() const;

  bool whole_table_;
  std::vector<std::string> tests_;  // in the order of their first run
  std::map<std::string, std::map<std::string, Outcomes>> outcomes_;  // by test, then by device
};

}  // namespace texloom::hal::conformance
