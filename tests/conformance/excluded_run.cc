#include "tests/conformance/excluded_run.h"

#include <utility>

namespace texloom::hal::conformance {

void ExcludedRun::end(std::unique_ptr<ExcludedRun> run, const std::string& reason) {
  std::string skipped, failed;
  for (int i = 0; i < run->results_.size(); ++i) {
    const ::testing::TestPartResult& result = run->results_.GetTestPartResult(i);
    if (result.skipped()) skipped = result.message();
    if (result.failed() && failed.empty()) failed = result.message();
  }
  run.reset();
  if (!failed.empty()) GTEST_SKIP() << "excluded: " << reason << "\n" << failed;
  if (!skipped.empty()) GTEST_SKIP() << skipped;
  FAIL() << "is excluded and passes; the reason no longer holds: " << reason;
}

}  // namespace texloom::hal::conformance
