// Runs compiled graphs on devices, for Python.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "graph/compile_graph.h"
#include "runtime/custom/operator_registry.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/load_graph.h"
#include "runtime/hal/device.h"
#include "runtime/package/package_file.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::python {

// A row-major array.
struct GraphInput {
  std::span<const std::byte> bytes;
  runtime::Shape shape;
};

// GraphOptions::goes_on.
using BuildCheck = std::function<bool(const runtime::KernelProgress&, const runtime::LaunchPlan&)>;

// A graph on one device. Not thread safe.
class GraphRun {
 public:
  // Fails like load_graph(), and like prepare_calls() for operators.
  static Result<std::unique_ptr<GraphRun>> create(const std::shared_ptr<hal::Device>& device,
                                                  const graph::CompiledGraph& graph,
                                                  const runtime::OperatorRegistry& operators,
                                                  const BuildCheck& goes_on);
  // Loads the package `name` of a file. `waits_around_calls`: whether runs wait before and after
  // calls of custom operators.
  static Result<std::unique_ptr<GraphRun>> create(const std::shared_ptr<hal::Device>& device,
                                                  std::shared_ptr<const runtime::PackageFile> file,
                                                  const std::string& name,
                                                  const runtime::OperatorRegistry& operators,
                                                  bool waits_around_calls,
                                                  const BuildCheck& goes_on);

  // Fails with InvalidArgument on a thread that may not wait for devices, such as one that runs a
  // host function.
  static Status check_may_run();

  // Runs the graph. Arrays are row-major, in the order of the graph's inputs and outputs. `wait`
  // waits for the device after the run is submitted; an exception that it throws ends this call.
  // Where the device can use the arrays themselves, it does: `owner` keeps them alive, and is held
  // until the next run has its inputs.
  Status run(std::span<const GraphInput> inputs, std::span<const std::span<std::byte>> outputs,
             const std::shared_ptr<const void>& owner,
             FunctionRef<void(const std::shared_ptr<runtime::DeviceProgram>&)> wait);
  // Runs `times` times with the inputs of the last run, and waits. Returns the seconds of these
  // runs. Fails with InvalidArgument before the first run.
  Result<double> time(int times);

 private:
  static Result<std::unique_ptr<GraphRun>> create(runtime::LoadedGraph loaded);

  std::unique_ptr<runtime::Executor> executor_;
  bool has_inputs_ = false;  // whether a run has given inputs
};

}  // namespace texloom::python
