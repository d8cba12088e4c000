// Runs shaders of unit/foreign/.
#pragma once

#include <fstream>
#include <iterator>

#include "tests/softmetal/unit/harness.h"

namespace softmetal {

inline std::string read_shader(const std::string& name) {
  std::ifstream in(std::string(SOFTMETAL_FOREIGN) + "/" + name + ".metal");
  EXPECT_TRUE(in.good()) << name;
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// A shader with arguments; a report of its execution fails the test.
class Shader {
 public:
  Shader(const std::string& file, const std::string& kernel,
         const std::map<int, std::string>& constants = {}) {
    CompileOptions options;
    options.constants = constants;
    function_ = function_or_fail(read_shader(file), kernel, options);
  }
  template <class T>
  Shader& buffer(int index, std::vector<T>& values) {
    arguments_.buffers[index] = {values.data(), values.size() * sizeof(T)};
    return *this;
  }
  template <class T>
  Shader& bytes(int index, const T& value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    arguments_.bytes[index].assign(raw, raw + sizeof value);
    return *this;
  }
  Arguments& arguments() { return arguments_; }
  const Function* function() const { return function_.get(); }
  // Runs the shader with several orders of threads.
  void run(const Grid& grid) {
    ASSERT_NE(function_, nullptr);
    for (uint64_t seed : {0, 1, 2}) {
      RunOptions options;
      options.seed = seed;
      const auto reports = dispatch(*function_, arguments_, grid, options);
      EXPECT_TRUE(reports.empty()) << print_reports(reports);
    }
  }

 private:
  std::shared_ptr<Function> function_;
  Arguments arguments_;
};

using Floats = std::vector<float>;

}  // namespace softmetal
