// Compiles and runs generated kernels on the first OpenCL device of this machine.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "compile/module.h"

namespace texloom::codegen::opencl::testing {

// The contents of one argument: a buffer's elements, an image's texels row by row, or one scalar.
struct HostArray {
  std::vector<unsigned char> bytes;

  template <class T>
  static HostArray of(const std::vector<T>& values) {
    HostArray result;
    result.bytes.resize(values.size() * sizeof(T));
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
    return result;
  }
  template <class T>
  std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

// The compiler's log if it refuses the source, otherwise empty.
std::string build_log(const std::string& source);

// Runs the kernel once with arguments in the order of its parameters, and updates `arguments` to
// their contents after the run. Fails the test on any OpenCL error.
void run(const compile::CompiledKernel& kernel, std::vector<HostArray>& arguments);

}  // namespace texloom::codegen::opencl::testing
