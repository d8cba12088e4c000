#include "tests/fuzz/package/package_run.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "compile/interpreted_kernels.h"
#include "compile/package.h"
#include "runtime/drivers/host/driver.h"
#include "runtime/drivers/null/driver.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/transfer.h"
#include "runtime/kernels/plan_kernels.h"
#include "runtime/launch_count.h"
#include "runtime/package/package_file.h"
#include "runtime/plan_symbols.h"
#include "runtime/plan_validation.h"
#include "runtime/record_plan.h"
#include "runtime/tensor_transfer.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::fuzz {
namespace {

using runtime::LaunchPlan;
using runtime::TensorSpec;

// Larger plans are loaded but not run: they are legal.
constexpr std::uint64_t kMaxBytes = 4 << 20;
constexpr std::int64_t kMaxLaunches = 300;
constexpr std::int64_t kMaxSteps = 20'000;  // of the interpreter, for a launch

void check_message(const Status& status) {
  TL_CHECK(status.ok() || !status.message().empty(), "an error without a message");
}

// Stands for custom operators, which nobody has registered.
class NoOperators final : public runtime::CallRecorder {
 public:
  Status record(const runtime::CallStep&, std::span<const hal::BindingRef>,
                std::span<const hal::Offset2D>, hal::CommandBuffer&) override {
    return {};
  }
};

hal::Constant some_value(hal::ElementType type) {
  switch (type) {
    case hal::ElementType::Int64:
      return hal::Constant(std::int64_t{3});
    case hal::ElementType::UInt32:
      return hal::Constant(std::uint32_t{3});
    case hal::ElementType::UInt64:
      return hal::Constant(std::uint64_t{3});
    case hal::ElementType::Float32:
      return hal::Constant(3.0F);
    case hal::ElementType::Float64:
      return hal::Constant(3.0);
    default:
      return hal::Constant(std::int32_t{3});
  }
}

std::uint64_t total_bytes(const LaunchPlan& plan) {
  std::uint64_t total = 0;
  for (const auto* tensors : {&plan.arguments, &plan.temporaries, &plan.constants}) {
    for (const TensorSpec& tensor : *tensors) {
      const std::uint64_t bytes = runtime::bytes_of(tensor.storage);
      if (bytes > kMaxBytes) return bytes;
      total += bytes;
    }
  }
  return total;
}

// The memory of a run.
struct Memory {
  std::vector<hal::Binding> bindings;  // keeps it alive
  std::vector<hal::BindingRef> refs;

  Status add(hal::Device& device, const std::vector<TensorSpec>& tensors) {
    for (const TensorSpec& tensor : tensors) {
      TL_ASSIGN_OR_RETURN(hal::Binding made, runtime::allocate(device, tensor));
      bindings.push_back(std::move(made));
    }
    for (const hal::Binding& binding : bindings)
      std::visit([&](const auto& memory) { refs.emplace_back(memory); }, binding);
    return {};
  }
};

Status write(hal::Device& device, const hal::Binding& binding, std::span<const std::byte> bytes) {
  if (const auto* buffer = std::get_if<hal::BufferBinding>(&binding))
    return hal::write_buffer(device, buffer->buffer, 0, bytes);
  const auto& texture = std::get<hal::TextureBinding>(binding);
  return hal::write_texture(device, texture.texture, {{}, texture.texture->extent()}, bytes);
}

Status run_variant(hal::Device& device, const runtime::PackageFile& file, std::size_t package,
                   std::size_t variant) {
  const LaunchPlan& stored = file.packages()[package].variants[variant].plan;
  const std::vector<std::int64_t> symbols(stored.symbols.size(), 4);
  TL_ASSIGN_OR_RETURN(const LaunchPlan plan, runtime::instantiate(stored, symbols));
  TL_RETURN_IF_ERROR(runtime::validate(plan));
  TL_ASSIGN_OR_RETURN(const std::int64_t launches, runtime::launches_of(plan.steps));
  if (launches > kMaxLaunches || total_bytes(plan) > kMaxBytes)
    return Status(StatusCode::LimitExceeded, "too large for a fuzzer");
  TL_ASSIGN_OR_RETURN(const runtime::PlanKernels kernels, runtime::create_kernels(device, plan));
  for (const auto& executable : kernels.executables) TL_RETURN_IF_ERROR(executable->prepare());
  Memory arguments, temporaries, constants;
  TL_RETURN_IF_ERROR(arguments.add(device, plan.arguments));
  TL_RETURN_IF_ERROR(temporaries.add(device, plan.temporaries));
  TL_RETURN_IF_ERROR(constants.add(device, plan.constants));
  for (std::size_t i = 0; i < plan.constants.size(); ++i) {
    TL_ASSIGN_OR_RETURN(const auto bytes, file.constant(variant, i, package));
    TL_RETURN_IF_ERROR(write(device, constants.bindings[i], bytes));
  }
  std::vector<hal::Constant> scalars;
  for (const runtime::ScalarSpec& scalar : plan.scalars)
    scalars.push_back(some_value(scalar.element));
  NoOperators operators;
  const auto commands = device.create_command_buffer();
  TL_RETURN_IF_ERROR(runtime::record(plan,
                                     {.kernels = kernels.kernels,
                                      .arguments = arguments.refs,
                                      .scalars = scalars,
                                      .temporaries = temporaries.refs,
                                      .constants = constants.refs,
                                      .calls = &operators},
                                     *commands));
  TL_RETURN_IF_ERROR(commands->finish());
  TL_RETURN_IF_ERROR(device.queue()->submit(commands));
  return device.queue()->wait_idle();
}

// What Python does with a function.
void load_module(const runtime::Package& package) {
  try {
    compile::module_of(package, "fuzz.tlp", {});
  } catch (const UserError&) {  // any other exception is a finding
  }
}

std::shared_ptr<hal::Device> opened(const std::shared_ptr<hal::Driver>& driver) {
  auto device = driver->open(0);
  TL_CHECK(device.ok(), device.status().to_string());
  return *std::move(device);
}

}  // namespace

PackageRunner::PackageRunner()
    : null_(opened(hal::null::create_driver())),
      host_(opened(hal::host::create_driver(
          {.threads = 1,
           .loaders = {compile::make_interpreter_loader({.max_steps = kMaxSteps})}}))) {}

Outcome PackageRunner::run(std::span<const std::byte> content) {
  const auto file = runtime::PackageFile::open(content);
  check_message(file.status());
  check_message(
      runtime::PackageFile::open(content, {.kernels = runtime::KernelPolicy::RefuseSource})
          .status());
  if (!file.ok()) return Outcome::Refused;
  bool ran = false;
  const std::span<const runtime::Package> packages = (*file)->packages();
  for (std::size_t p = 0; p < packages.size(); ++p) {
    load_module(packages[p]);
    for (std::size_t v = 0; v < packages[p].variants.size(); ++v) {
      for (hal::Device* device : {null_.get(), host_.get()}) {
        const Status status = run_variant(*device, **file, p, v);
        check_message(status);
        ran = ran || status.ok();
      }
    }
  }
  return ran ? Outcome::Ran : Outcome::Loaded;
}

}  // namespace texloom::fuzz
