#include "apps/bench-commit/chain.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/custom/operator_registry.h"
#include "runtime/custom/prepared_calls.h"
#include "runtime/custom/source_kernel.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/tensor_transfer.h"

namespace texloom::bench_commit {
namespace {

using runtime::TensorRef;

constexpr std::uint32_t kGroup = 64;  // threads
constexpr float kLambda = 0.001F;

constexpr const char* kScale = R"(
__kernel void scale(__global const float* x, __global float* y, int count) {
  int i = get_global_id(0);
  if (i < count) y[i] = 0.999f * x[i] + 0.002f;
})";

Result<std::shared_ptr<const runtime::CustomOperator>> softshrink() {
  runtime::SourceKernel kernel;
  kernel.info.name = "bench::softshrink";
  kernel.info.arguments = {
      {.name = "x", .storage = runtime::ArgumentStorage::Buffer},
      {.name = "y", .access = hal::Access::Write, .storage = runtime::ArgumentStorage::Buffer}};
  kernel.info.attributes = {{.name = "l", .type = runtime::AttributeType::Float}};
  kernel.body = R"(
    int i = tl_global_id(0);
    float v = tl_get(x, i);
    tl_put(y, i, v > l ? v - l : v < -l ? v + l : 0.0f);)";
  kernel.workgroup = {kGroup, 1, 1};
  kernel.threads = {"x.d0", "1", "1"};
  return runtime::make_source_operator(std::move(kernel));
}

runtime::TensorSpec array(std::string name, std::uint32_t elements) {
  return {.name = std::move(name),
          .element = hal::ElementType::Float32,
          .shape = {static_cast<std::int64_t>(elements)},
          .storage = runtime::BufferStorage{std::uint64_t{elements} * sizeof(float)},
          .layout = runtime::row_major({static_cast<std::int64_t>(elements)})};
}

// Operator k reads tensor k and writes tensor k + 1: the input, temporaries, and the output.
runtime::LaunchPlan plan_of(const Chain& chain) {
  const std::uint64_t bytes = std::uint64_t{chain.elements} * sizeof(float);
  runtime::LaunchPlan plan;
  plan.arguments = {array("x", chain.elements), array("y", chain.elements)};
  plan.modules = {{.codes = {{.format = KernelFormat::OpenClC, .code = kScale}}}};
  plan.kernels = {
      {.entry = {.name = "scale",
                 .params = {hal::BufferParam{.name = "x", .min_bytes = bytes},
                            hal::BufferParam{
                                .name = "y", .access = hal::Access::Write, .min_bytes = bytes},
                            hal::ConstantParam{.name = "count"}},
                 .workgroup_size = {kGroup, 1, 1}}}};
  plan.calls = {{.op = "bench::softshrink",
                 .version = 1,
                 .accesses = {hal::Access::Read, hal::Access::Write},
                 .attributes = {{"l", double{kLambda}}}}};
  const auto tensor = [&](int number) -> TensorRef {
    if (number == 0) return {TensorRef::Kind::Argument, 0};
    if (number == chain.operators()) return {TensorRef::Kind::Argument, 1};
    return {TensorRef::Kind::Temporary, static_cast<std::uint32_t>(number - 1)};
  };
  for (int k = 0; k < chain.operators(); ++k) {
    const TensorRef from = tensor(k), to = tensor(k + 1);
    if (to.kind == TensorRef::Kind::Temporary) {
      plan.steps.emplace_back(runtime::AllocateStep{to.index});
      plan.temporaries.push_back(array(fmt::format("t{}", k), chain.elements));
    }
    if (k % 2 == 0) {
      plan.steps.emplace_back(runtime::LaunchStep{
          0,
          {static_cast<std::int64_t>((chain.elements + kGroup - 1) / kGroup), 1, 1},
          {from, to, runtime::Immediate{chain.elements}}});
    } else {
      plan.steps.emplace_back(runtime::CallStep{0, {from, to}});
    }
    if (from.kind == TensorRef::Kind::Temporary)
      plan.steps.emplace_back(runtime::FreeStep{from.index});
  }
  return plan;
}

std::vector<float> input_of(const Chain& chain) {
  std::vector<float> values(chain.elements);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i % 2001) - 1000) / 500;
  return values;
}

float on_host(float value, int pairs) {
  for (int i = 0; i < pairs; ++i) {
    value = 0.999F * value + 0.002F;
    value = value > kLambda ? value - kLambda : value < -kLambda ? value + kLambda : 0.0F;
  }
  return value;
}

}  // namespace

ChainProgram::ChainProgram(std::shared_ptr<hal::Device> device, const Chain& chain)
    : device_(std::move(device)), chain_(chain) {}

Result<std::unique_ptr<ChainProgram>> ChainProgram::create(
    const std::shared_ptr<hal::Device>& device, const Chain& chain,
    const std::optional<runtime::CommitPolicy>& policy) {
  std::unique_ptr<ChainProgram> made(new ChainProgram(device, chain));
  runtime::OperatorRegistry registry;
  TL_ASSIGN_OR_RETURN(auto op, softshrink());
  TL_RETURN_IF_ERROR(registry.add(std::move(op)));
  runtime::LaunchPlan plan = plan_of(chain);
  TL_ASSIGN_OR_RETURN(std::shared_ptr<runtime::PreparedCalls> calls,
                      runtime::prepare_calls(registry, plan, device));
  for (const runtime::TensorSpec& tensor : plan.arguments) {
    TL_ASSIGN_OR_RETURN(runtime::TensorBinding memory, runtime::allocate(*device, tensor));
    made->arguments_.push_back(std::move(memory));
  }
  const std::vector<float> input = input_of(chain);
  TL_RETURN_IF_ERROR(runtime::write_tensor(*device, plan.arguments[0], made->arguments_[0],
                                           std::as_bytes(std::span(input))));
  TL_ASSIGN_OR_RETURN(made->program_,
                      runtime::DeviceProgram::create(
                          device, std::move(plan), {.policy = policy, .calls = std::move(calls)}));
  return made;
}

Result<double> ChainProgram::time(int times) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) {
    TL_RETURN_IF_ERROR(program_->run(arguments_));
    TL_RETURN_IF_ERROR(device_->queue()->wait_idle());
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  return time.count() / times;
}

Status ChainProgram::check() {
  std::vector<float> values(chain_.elements);
  TL_RETURN_IF_ERROR(runtime::read_tensor(*device_, program_->plan().arguments[1], arguments_[1],
                                          std::as_writable_bytes(std::span(values))));
  const std::vector<float> input = input_of(chain_);
  // All values are below 2 in magnitude.
  const float most = std::numeric_limits<float>::epsilon() * static_cast<float>(chain_.operators());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float expected = on_host(input[i], chain_.pairs);
    // A value near a threshold may take another branch on the device, but softshrink is continuous.
    if (std::abs(values[i] - expected) > most)
      return invalid_argument("element {} is {}, expected {}", i, values[i], expected);
  }
  return {};
}

}  // namespace texloom::bench_commit
