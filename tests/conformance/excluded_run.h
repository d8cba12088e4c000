// Runs an excluded test: its failures are hidden from GoogleTest and counted.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace texloom::hal::conformance {

class ExcludedRun {
 public:
  ExcludedRun() = default;

  // Ends the run. If nothing failed, the test fails, since the exclusion is no longer needed;
  // otherwise the test is skipped with the reason.
  static void end(std::unique_ptr<ExcludedRun> run, const std::string& reason);

 private:
  ::testing::TestPartResultArray results_;
  ::testing::ScopedFakeTestPartResultReporter reporter_{
      ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results_};
};

}  // namespace texloom::hal::conformance
