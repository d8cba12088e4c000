#include "core/graph/graph_run.h"

#include <chrono>
#include <utility>

#include "runtime/executor/constant_source.h"
#include "runtime/tensor_transfer.h"

namespace texloom::python {
namespace {

class GraphConstants final : public runtime::ConstantSource {
 public:
  explicit GraphConstants(const graph::CompiledGraph& graph) : values_(graph.values) {}
  Result<std::span<const std::byte>> bytes(std::uint32_t constant) override {
    return std::span<const std::byte>(*values_[constant]);
  }

 private:
  std::vector<std::shared_ptr<const std::vector<std::byte>>> values_;
};

}  // namespace

Result<std::unique_ptr<GraphRun>> GraphRun::create(std::shared_ptr<hal::Device> device,
                                                   const graph::CompiledGraph& graph) {
  const runtime::LaunchPlan& plan = graph.package.variants.front().plan;
  auto run = std::make_unique<GraphRun>();
  run->device_ = std::move(device);
  runtime::ProgramOptions options;
  options.constants = std::make_shared<GraphConstants>(graph);
  TL_ASSIGN_OR_RETURN(run->program_, runtime::DeviceProgram::create(run->device_, plan, options));
  for (const runtime::TensorSpec& tensor : plan.arguments) {
    TL_ASSIGN_OR_RETURN(hal::Binding binding, runtime::allocate(*run->device_, tensor));
    run->arguments_.push_back(std::move(binding));
  }
  return run;
}

Status GraphRun::run(std::span<const std::span<const std::byte>> inputs,
                     std::span<const std::span<std::byte>> outputs) {
  const std::vector<runtime::TensorSpec>& tensors = program_->plan().arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    TL_RETURN_IF_ERROR(runtime::write_tensor(*device_, tensors[i], arguments_[i], inputs[i]));
  TL_RETURN_IF_ERROR(program_->run(arguments_));
  TL_RETURN_IF_ERROR(device_->queue()->wait_idle());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t position = inputs.size() + i;
    TL_RETURN_IF_ERROR(
        runtime::read_tensor(*device_, tensors[position], arguments_[position], outputs[i]));
  }
  return {};
}

Result<double> GraphRun::time(int times) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  runtime::RunOptions options;
  options.times = times;
  TL_RETURN_IF_ERROR(program_->run(arguments_, {}, options));
  TL_RETURN_IF_ERROR(device_->queue()->wait_idle());
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace texloom::python
