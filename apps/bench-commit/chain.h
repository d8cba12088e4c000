// Chains of compiled kernels and custom operators, as programs on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/commit/policy.h"
#include "runtime/executor/device_program.h"
#include "runtime/hal/device.h"
#include "support/status.h"

namespace texloom::bench_commit {

// `pairs` times a compiled kernel (y = 0.999 x + 0.002) and the custom operator softshrink (x - l
// above l, x + l below -l, else 0; l = 0.001), each over arrays of float32 of its own.
struct Chain {
  int pairs = 0;
  std::uint32_t elements = 0;

  int operators() const { return 2 * pairs; }
};

// A program with memory for its input and output, which runs in turns with other programs.
class ChainProgram {
 public:
  // `policy` is the device's if absent. The errors of DeviceProgram::create and
  // Device::create_buffer.
  static Result<std::unique_ptr<ChainProgram>> create(
      const std::shared_ptr<hal::Device>& device, const Chain& chain,
      const std::optional<runtime::CommitPolicy>& policy);

  // Runs `times` times and waits for each run. Returns the mean time in microseconds.
  Result<double> time(int times);
  // InvalidArgument if the output is not what the host computes from the input: the device and the
  // host round each operation in the same way, except fused products, so elements may differ by one
  // unit in the last place for each operator.
  Status check();

 private:
  ChainProgram(std::shared_ptr<hal::Device> device, const Chain& chain);

  std::shared_ptr<hal::Device> device_;
  Chain chain_;
  std::shared_ptr<runtime::DeviceProgram> program_;
  std::vector<runtime::TensorBinding> arguments_;
};

}  // namespace texloom::bench_commit
