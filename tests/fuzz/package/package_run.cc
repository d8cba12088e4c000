#include "tests/fuzz/package/package_run.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compile/interpreted_kernels.h"
#include "compile/native/native_code.h"
#include "compile/package.h"
#include "runtime/drivers/host/driver.h"
#include "runtime/drivers/null/driver.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/load_graph.h"
#include "runtime/package/package_file.h"
#include "runtime/plan/launch_count.h"
#include "runtime/plan/record.h"
#include "runtime/plan/symbols.h"
#include "runtime/plan/validation.h"
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

// Stands for custom operators, none of which is registered here: it records nothing.
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

// The bytes of the objects that temporaries share, as the file's plan places them.
std::uint64_t workspace_bytes(const LaunchPlan& plan) {
  if (!plan.workspace) return 0;
  std::uint64_t total = 0;
  for (const runtime::TensorStorage& object : plan.workspace->objects) {
    const std::uint64_t bytes = runtime::bytes_of(object);
    if (bytes > kMaxBytes) return bytes;
    total += bytes;
  }
  return total;
}

// Whether a fuzzer can afford to run the plan, which has no symbols.
Status check_size(const LaunchPlan& plan) {
  TL_RETURN_IF_ERROR(runtime::validate(plan));
  TL_ASSIGN_OR_RETURN(const std::int64_t launches, runtime::launches_of(plan.steps));
  if (launches > kMaxLaunches || total_bytes(plan) > kMaxBytes || workspace_bytes(plan) > kMaxBytes)
    return Status(StatusCode::LimitExceeded, "too large for a fuzzer");
  return {};
}

// Gives every input zeros, and every scalar a value. `plan` is the program's plan with known sizes.
Status give_inputs(runtime::Executor& executor, const LaunchPlan& plan) {
  for (std::uint32_t i = 0; i < executor.interface().inputs.size(); ++i) {
    const auto argument = executor.interface().inputs[i].argument;
    if (!argument) continue;
    const TensorSpec& tensor = plan.arguments[*argument];
    runtime::Shape shape = tensor.layout.shape;
    if (shape.empty()) {
      for (const runtime::Size& extent : tensor.shape)
        shape.push_back(extent.constant().value_or(0));
    }
    std::uint64_t bytes = hal::byte_size(tensor.element);
    for (const std::int64_t extent : shape) bytes *= static_cast<std::uint64_t>(extent);
    if (bytes > kMaxBytes) return Status(StatusCode::LimitExceeded, "too large for a fuzzer");
    TL_RETURN_IF_ERROR(executor.set_shape(i, shape));
    const std::vector<std::byte> zeros(bytes);
    TL_RETURN_IF_ERROR(executor.set_input(i, zeros));
  }
  for (std::uint32_t i = 0; i < plan.scalars.size(); ++i)
    TL_RETURN_IF_ERROR(executor.set_scalar(i, some_value(plan.scalars[i].element)));
  return {};
}

Status read_outputs(runtime::Executor& executor) {
  for (std::uint32_t i = 0; i < executor.interface().outputs.size(); ++i) {
    TL_ASSIGN_OR_RETURN(const std::uint64_t bytes, executor.output_bytes(i));
    if (bytes > kMaxBytes) continue;
    std::vector<std::byte> array(bytes);
    TL_RETURN_IF_ERROR(executor.get_output(i, array));
  }
  return {};
}

// Runs the graph as an application does. The executor records commands in the second run and
// submits them again in the third.
Status run_executor(runtime::Executor& executor, const LaunchPlan& plan) {
  TL_RETURN_IF_ERROR(give_inputs(executor, plan));
  for (int i = 0; i < 3; ++i) TL_RETURN_IF_ERROR(executor.submit());
  return read_outputs(executor);
}

// `checks_barriers`: if true, a plan that lacks a barrier is refused; if false, it runs.
Status run_variant(const std::shared_ptr<hal::Device>& device,
                   const std::shared_ptr<const runtime::PackageFile>& file, std::size_t package,
                   std::size_t variant, bool checks_barriers) {
  runtime::Package single = file->packages()[package];
  single.variants = {file->packages()[package].variants[variant]};
  const LaunchPlan& stored = single.variants.front().plan;
  const std::vector<std::int64_t> symbols(stored.symbols.size(), 4);
  TL_ASSIGN_OR_RETURN(const LaunchPlan plan, runtime::instantiate(stored, symbols));
  TL_RETURN_IF_ERROR(check_size(plan));
  const auto constants = [&](std::size_t, std::uint32_t constant) {
    return file->constant(variant, constant, package);
  };
  const auto no_operators = [](const std::shared_ptr<hal::Device>&, const LaunchPlan&)
      -> Result<std::shared_ptr<runtime::CallRecorder>> { return std::make_shared<NoOperators>(); };
  TL_ASSIGN_OR_RETURN(
      runtime::LoadedGraph graph,
      runtime::load_graph(device, single, constants,
                          {.prepare_calls = no_operators, .checks_barriers = checks_barriers}));
  TL_ASSIGN_OR_RETURN(const auto executor,
                      runtime::Executor::create(graph.program, graph.interface));
  const Status status = run_executor(*executor, plan);
  // An error of submitted work must not be reported for the next file.
  const Status rest = device->queue()->wait_idle();
  return status.ok() ? rest : status;
}

// Loads the package as Python loads a stored function.
void load_module(const runtime::Package& package) {
  for (std::size_t i = 0; i < package.variants.size(); ++i) {
    try {
      compile::module_of(package, i, "fuzz.tlp", {});
    } catch (const UserError&) {  // any other exception is a finding
    }
  }
}

// Reads the file as programs that take native code do. The code itself never runs: nothing could
// tell harmful code from harmless.
void read_native(std::span<const std::byte> content) {
  const auto file = runtime::PackageFile::open(content, {.kernels = {.takes_native = true}});
  check_message(file.status());
  if (!file.ok()) return;
  for (const runtime::Package& package : (*file)->packages()) {
    load_module(package);
    for (const runtime::PackageVariant& variant : package.variants)
      compile::processor_needs(variant.plan);
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
  check_message(runtime::PackageFile::open(content, {.kernels = {.takes_source = false}}).status());
  read_native(content);
  if (!file.ok()) return Outcome::Refused;
  bool ran = false;
  const std::span<const runtime::Package> packages = (*file)->packages();
  for (std::size_t p = 0; p < packages.size(); ++p) {
    load_module(packages[p]);
    for (const auto& device : {null_, host_})
      check_message(runtime::choose_variant(packages[p], device->info()).status());
    for (std::size_t v = 0; v < packages[p].variants.size(); ++v) {
      for (const auto& [device, checks_barriers] :
           {std::pair(null_, false), std::pair(null_, true), std::pair(host_, false)}) {
        const Status status = run_variant(device, *file, p, v, checks_barriers);
        check_message(status);
        ran = ran || status.ok();
      }
    }
  }
  return ran ? Outcome::Ran : Outcome::Loaded;
}

}  // namespace texloom::fuzz
