#include "tests/softmetal/unit/harness.h"

#include <atomic>
#include <cmath>
#include <map>
#include <thread>

namespace softmetal {
namespace {

constexpr const char* kPrologue = "#include <metal_stdlib>\nusing namespace metal;\n";

std::string source_of(const std::vector<ValueCase>& table) {
  std::string source = kPrologue;
  for (size_t i = 0; i < table.size(); ++i) {
    source += "kernel void case_" + std::to_string(i) + "(device float* out [[buffer(0)]]) { " +
              table[i].body + " }\n";
  }
  return source;
}

}  // namespace

std::shared_ptr<Library> compile_or_fail(const std::string& source, const CompileOptions& options) {
  std::string log;
  std::shared_ptr<Library> library = Library::compile(source, options, log);
  EXPECT_NE(library, nullptr) << log;
  return library;
}

std::shared_ptr<Function> function_or_fail(const std::string& source, const std::string& name,
                                           const CompileOptions& options) {
  const std::shared_ptr<Library> library = compile_or_fail(source, options);
  std::string problem;
  std::shared_ptr<Function> function =
      library == nullptr ? nullptr : library->function(name, problem);
  EXPECT_NE(function, nullptr) << problem;
  return function;
}

std::vector<Compilation> compile_all(const std::vector<std::string>& sources) {
  std::vector<Compilation> results(sources.size());
  std::atomic<size_t> next = 0;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    workers.emplace_back([&] {
      for (size_t k = next++; k < sources.size(); k = next++)
        results[k] = compile_source(sources[k], {});
    });
  }
  for (std::thread& worker : workers) worker.join();
  return results;
}

std::ostream& operator<<(std::ostream& out, const ValueCase& c) { return out << c.what; }

std::vector<Report> run_over(const Function& function, std::vector<float>& values, const Grid& grid,
                             const RunOptions& options) {
  Arguments arguments;
  arguments.buffers[0] = {values.data(), values.size() * sizeof(float)};
  return dispatch(function, arguments, grid, options);
}

void check_value_case(const std::vector<ValueCase>& table, size_t index) {
  static std::map<const std::vector<ValueCase>*, std::shared_ptr<Library>> libraries;
  std::shared_ptr<Library>& library = libraries[&table];
  if (library == nullptr) library = compile_or_fail(source_of(table));
  ASSERT_NE(library, nullptr);
  const ValueCase& c = table[index];
  SCOPED_TRACE(c.what);
  std::string problem;
  const auto function = library->function("case_" + std::to_string(index), problem);
  ASSERT_NE(function, nullptr) << problem;
  std::vector<float> out(16, -12345.0F);
  const std::vector<Report> reports = run_over(*function, out, {});
  EXPECT_FALSE(has_errors(reports)) << print_reports(reports);
  for (size_t i = 0; i < c.expected.size(); ++i) {
    if (std::isnan(c.expected[i])) {
      EXPECT_TRUE(std::isnan(out[i])) << "out[" << i << "] is " << out[i];
    } else {
      EXPECT_EQ(out[i], c.expected[i]) << "out[" << i << "]";
      EXPECT_EQ(std::signbit(out[i]), std::signbit(c.expected[i])) << "out[" << i << "]";
    }
  }
}

}  // namespace softmetal
