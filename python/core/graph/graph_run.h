// Runs compiled graphs on devices, for Python.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "graph/compile_graph.h"
#include "runtime/executor/device_program.h"
#include "runtime/hal/device.h"
#include "support/status.h"

namespace texloom::python {

// A compiled graph on one device, with memory for its arguments there. Not thread safe.
class GraphRun {
 public:
  // The errors of DeviceProgram::create().
  static Result<std::unique_ptr<GraphRun>> create(std::shared_ptr<hal::Device> device,
                                                  const graph::CompiledGraph& graph);

  // Row-major arrays of the graph's inputs and outputs, in its order. Waits for the result.
  Status run(std::span<const std::span<const std::byte>> inputs,
             std::span<const std::span<std::byte>> outputs);
  // Runs `times` times with the inputs of the last run, and waits. Returns the seconds that this
  // takes.
  Result<double> time(int times);

 private:
  std::shared_ptr<hal::Device> device_;
  std::shared_ptr<runtime::DeviceProgram> program_;
  std::vector<hal::Binding> arguments_;
};

}  // namespace texloom::python
