// Runs a test that is excluded: its failures are kept from GoogleTest and counted.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace texloom::hal::conformance {

class ExcludedRun {
 public:
  ExcludedRun() = default;

  // Ends it. Fails the test when nothing failed, since the exclusion has lost its reason then;
  // otherwise the test is skipped with the reason in words.
  static void end(std::unique_ptr<ExcludedRun> run, const std::string& reason);

 private:
  ::testing::TestPartResultArray results_;
  ::testing::ScopedFakeTestPartResultReporter reporter_{
      ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results_};
};

}  // namespace texloom::hal::conformance
