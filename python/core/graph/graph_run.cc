#include "core/graph/graph_run.h"

#include <chrono>
#include <utility>
#include <vector>

#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "runtime/commit/device_policy.h"
#include "runtime/executor/load_graph.h"
#include "runtime/hal/no_waits.h"
#include "runtime/parts/host_part.h"

namespace texloom::python {

namespace {

runtime::GraphOptions options_with(const runtime::OperatorRegistry& operators,
                                   const BuildCheck& goes_on) {
  runtime::GraphOptions options;
  options.goes_on = goes_on;
  options.prepare_calls =
      runtime::prepare_with_host_parts(operators, []() -> Result<std::shared_ptr<hal::Device>> {
        const py::gil_scoped_acquire lock;
        return open_device({.driver = "host"});
      });
  return options;
}

}  // namespace

Result<std::unique_ptr<GraphRun>> GraphRun::create(const std::shared_ptr<hal::Device>& device,
                                                   const graph::CompiledGraph& graph,
                                                   const runtime::OperatorRegistry& operators,
                                                   const BuildCheck& goes_on) {
  const auto constants = [values = graph.values](std::size_t, std::uint32_t constant) {
    return Result<std::span<const std::byte>>(*values[constant]);
  };
  TL_ASSIGN_OR_RETURN(
      runtime::LoadedGraph loaded,
      runtime::load_graph(device, graph.package, constants, options_with(operators, goes_on)));
  return create(std::move(loaded));
}

Result<std::unique_ptr<GraphRun>> GraphRun::create(const std::shared_ptr<hal::Device>& device,
                                                   std::shared_ptr<const runtime::PackageFile> file,
                                                   const std::string& name,
                                                   const runtime::OperatorRegistry& operators,
                                                   bool waits_around_calls,
                                                   const BuildCheck& goes_on) {
  runtime::GraphOptions options = options_with(operators, goes_on);
  if (waits_around_calls) {
    options.policy = runtime::commit_policy_for(device->info());
    options.policy->waits = runtime::Waits::AroundCalls;
  }
  TL_ASSIGN_OR_RETURN(runtime::LoadedGraph loaded,
                      runtime::load_graph(device, std::move(file), options, name));
  return create(std::move(loaded));
}

Result<std::unique_ptr<GraphRun>> GraphRun::create(runtime::LoadedGraph loaded) {
  auto run = std::make_unique<GraphRun>();
  TL_ASSIGN_OR_RETURN(run->executor_, runtime::Executor::create(std::move(loaded.program),
                                                                std::move(loaded.interface)));
  return run;
}

Status GraphRun::check_may_run() { return hal::check_may_wait(); }

Status GraphRun::run(std::span<const GraphInput> inputs,
                     std::span<const std::span<std::byte>> outputs,
                     const std::shared_ptr<const void>& owner,
                     FunctionRef<void(const std::shared_ptr<runtime::DeviceProgram>&)> wait) {
  const bool has_symbols = !executor_->program()->plan().symbols.empty();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    if (has_symbols) TL_RETURN_IF_ERROR(executor_->set_shape(number, inputs[i].shape));
    TL_RETURN_IF_ERROR(executor_->lend_input(number, inputs[i].bytes, owner));
  }
  has_inputs_ = true;
  std::vector<bool> is_written(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    TL_ASSIGN_OR_RETURN(is_written[i], executor_->lend_output(number, outputs[i], owner));
  }
  TL_RETURN_IF_ERROR(executor_->submit({}, {}, true));
  wait(executor_->program());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_written[i])
      TL_RETURN_IF_ERROR(executor_->get_output(static_cast<std::uint32_t>(i), outputs[i]));
  }
  executor_->end_loans();
  return {};
}

Result<double> GraphRun::time(int times) {
  if (!has_inputs_)
    return invalid_argument(
        "the graph has not run on this device; help: call run(inputs, device) once: time() uses "
        "its inputs");
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (int i = 1; i < times; ++i) TL_RETURN_IF_ERROR(executor_->submit());
  if (times > 0) TL_RETURN_IF_ERROR(executor_->run());
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace texloom::python
