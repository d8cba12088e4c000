// Compiles and runs small MSL programs in tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/softmetal/execute/dispatch.h"

namespace softmetal {

// Compiles a program; an error fails the test.
std::shared_ptr<Library> compile_or_fail(const std::string& source,
                                         const CompileOptions& options = {});
std::shared_ptr<Function> function_or_fail(const std::string& source, const std::string& name,
                                           const CompileOptions& options = {});

// Compiles sources on all processors.
std::vector<Compilation> compile_all(const std::vector<std::string>& sources);

// A case of the standard library: statements that one thread runs, which write to `device float*
// out`, and the expected values.
struct ValueCase {
  const char* what;  // a sentence
  const char* body;
  std::vector<float> expected;
};
std::ostream& operator<<(std::ostream& out, const ValueCase& c);

// Runs case `index` of a table; all kernels of a table are compiled together, once.
void check_value_case(const std::vector<ValueCase>& table, size_t index);

// Runs a kernel with `values` as buffer 0, which the kernel may change.
std::vector<Report> run_over(const Function& function, std::vector<float>& values, const Grid& grid,
                             const RunOptions& options = {});

}  // namespace softmetal

// A test for each row of a table of ValueCase.
#define SOFTMETAL_VALUE_TESTS(Suite, kTable)                                        \
  class Suite : public testing::TestWithParam<size_t> {};                           \
  TEST_P(Suite, GivesTheValue) { softmetal::check_value_case(kTable, GetParam()); } \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::Range(size_t{0}, kTable.size()))
