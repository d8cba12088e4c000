// The outcome of the suite as a table: tests by devices.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace texloom::hal::conformance {

// Counts what each test definition came to on each device, and prints that after the run: one line
// for each device and one for each reason, and with `whole_table` one for each test.
class Report final : public ::testing::EmptyTestEventListener {
 public:
  explicit Report(bool whole_table) : whole_table_(whole_table) {}

  void OnTestEnd(const ::testing::TestInfo& test) override;
  void OnTestProgramEnd(const ::testing::UnitTest& unit_test) override;

 private:
  struct Outcomes {
    int passed = 0, failed = 0;
    // Numbers of instances by reason.
    std::map<std::string, int> excluded, skipped;
  };

  void print_table() const;
  void print_summary() const;

  bool whole_table_;
  std::vector<std::string> tests_;  // in the order of their first run
  std::map<std::string, std::map<std::string, Outcomes>> outcomes_;  // by test, then by device
};

}  // namespace texloom::hal::conformance
