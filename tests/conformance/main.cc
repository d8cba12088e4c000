// conformance_tests [--table] [GoogleTest's flags]
//
// Runs the suite on every device of every linked driver. --table prints a table of all tests at the
// end. --gtest_filter='*/opencl*' selects drivers; OCL_ICD_VENDORS gives the OpenCL loader other
// implementations.
#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "tests/conformance/fixture.h"
#include "tests/conformance/report.h"

namespace {

// Closes the devices before the libraries that they use are unloaded.
class Devices final : public ::testing::Environment {
 public:
  void TearDown() override { texloom::hal::conformance::close_shared(); }
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  bool table = false;
  for (int i = 1; i < argc; ++i) table = table || std::string_view(argv[i]) == "--table";
  ::testing::AddGlobalTestEnvironment(std::make_unique<Devices>().release());
  ::testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<texloom::hal::conformance::Report>(table).release());
  return RUN_ALL_TESTS();
}
