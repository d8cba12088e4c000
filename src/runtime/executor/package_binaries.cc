#include "runtime/executor/package_binaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "runtime/builds/kernel_builds.h"
#include "runtime/executor/executor.h"
#include "runtime/package/package_writer.h"
#include "runtime/plan/kernels.h"
#include "support/identifiers.h"

namespace texloom::runtime {
namespace {

using hal::KernelCode;

// Waits for the run of a program, whose kernels the device compiles meanwhile.
Status wait_for(DeviceProgram& program, const BuildProgress& goes_on) {
  while (true) {
    const Status status =
        program.device()->queue()->wait_idle(hal::after(std::chrono::milliseconds(20)));
    if (status.code() != StatusCode::DeadlineExceeded) return status;
    const auto at = program.first_runs();
    if (at && goes_on && !goes_on(*at, program.plan()))
      return make_error(StatusCode::Cancelled, "the caller ended the first run");
  }
}

bool has_word(std::string_view code, std::string_view word) {
  for (std::size_t at = code.find(word); at != code.npos; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_identifier_character(code[at - 1])) &&
        (end == code.size() || !is_identifier_character(code[end])))
      return true;
  }
  return false;
}

// Whether the plan repeats steps, or a kernel has loops whose end may depend on data. The printer
// of OpenCL C writes the latter as `while`; its `for` counts up to a bound.
bool has_loops(const LaunchPlan& plan) {
  const auto loops = [](const KernelCode& code) {
    return code.format == KernelFormat::OpenClC &&
           (has_word(code.code, "while") || has_word(code.code, "goto"));
  };
  return std::ranges::any_of(
             plan.steps, [](const Step& step) { return std::holds_alternative<LoopStep>(step); }) ||
         std::ranges::any_of(plan.modules, [&](const ModuleSpec& module) {
           return std::ranges::any_of(module.codes, loops);
         });
}

// Whether a run on zeros is sure to end, and needs nothing but the package. The calls of a plan are
// custom operators and parts on the host.
bool can_run_on_zeros(const LaunchPlan& plan) {
  return plan.symbols.empty() && plan.calls.empty() && !has_loops(plan);
}

// Runs a package once with zero inputs. Requires can_run_on_zeros() of the variant's plan.
Status run_on_zeros(const Package& package, const std::shared_ptr<hal::Device>& device,
                    const BuildProgress& goes_on) {
  const PackageConstants constants = [&](std::size_t variant, std::uint32_t constant) {
    return package.variants[variant].constants[constant].bytes;
  };
  TL_ASSIGN_OR_RETURN(const LoadedGraph graph,
                      load_graph(device, package, constants, {.goes_on = goes_on}));
  TL_ASSIGN_OR_RETURN(const auto executor, Executor::create(graph.program, graph.interface));
  for (std::uint32_t i = 0; i < package.inputs.size(); ++i) {
    const PackageTensor& input = package.tensors[package.inputs[i]];
    std::uint64_t bytes = hal::byte_size(input.element);
    for (const Size& extent : input.shape)
      bytes *= static_cast<std::uint64_t>(extent.constant().value_or(0));
    TL_RETURN_IF_ERROR(executor->set_input(i, std::vector<std::byte>(bytes)));
  }
  const std::vector<ScalarSpec>& scalars = graph.program->plan().scalars;
  for (std::uint32_t i = 0; i < scalars.size(); ++i)
    TL_RETURN_IF_ERROR(executor->set_scalar(i, hal::Constant::zero(scalars[i].element)));
  TL_RETURN_IF_ERROR(executor->submit());
  return wait_for(*graph.program, goes_on);
}

// Returns the binary of each module of the variant that the device gets.
Result<std::vector<KernelCode>> binaries_of(const Package& package, const LaunchPlan& plan,
                                            const std::shared_ptr<hal::Device>& device,
                                            const BuildProgress& goes_on) {
  // A device that compiles kernels when they first run keeps that code for later builds, whose
  // binaries then have it.
  if (device->info().features.compiles_at_first_run && can_run_on_zeros(plan))
    TL_RETURN_IF_ERROR(run_on_zeros(package, device, goes_on));
  TL_ASSIGN_OR_RETURN(const PlanKernels kernels,
                      create_kernels(*device, plan, /*builds_anew=*/true));
  TL_RETURN_IF_ERROR(build_side_by_side(kernels.executables, [&](KernelProgress at) {
    at.current = first_kernel_of(plan, at.current);
    return !goes_on || goes_on(at, plan);
  }));
  std::vector<KernelCode> binaries;
  for (const auto& executable : kernels.executables) {
    TL_ASSIGN_OR_RETURN(KernelCode binary, executable->binary());
    if (!binary.origin)
      return make_error(StatusCode::Internal, "the driver {} gives a binary without its origin",
                        device->info().driver);
    binaries.push_back(std::move(binary));
  }
  return binaries;
}

void put_binary(ModuleSpec& module, KernelCode binary) {
  std::erase_if(module.codes, [&](const KernelCode& code) {
    return code.origin && code.origin->maker == binary.origin->maker;
  });
  module.codes.push_back(std::move(binary));
}

}  // namespace

Result<std::size_t> add_binaries(std::span<Package> packages,
                                 const std::shared_ptr<hal::Device>& device,
                                 const BuildProgress& goes_on) {
  if (device == nullptr) return invalid_argument("the device is null");
  std::vector<std::pair<LaunchPlan*, std::vector<KernelCode>>> made;
  for (Package& package : packages) {
    TL_ASSIGN_OR_RETURN(const std::size_t variant, choose_variant(package, device->info()));
    LaunchPlan& plan = package.variants[variant].plan;
    auto binaries = binaries_of(package, plan, device, goes_on);
    if (!binaries.ok())
      return binaries.status().with_context(fmt::format("package \"{}\"", package.name));
    made.emplace_back(&plan, *std::move(binaries));
  }
  std::size_t count = 0;
  for (auto& [plan, binaries] : made) {
    for (std::size_t i = 0; i < binaries.size(); ++i)
      put_binary(plan->modules[i], std::move(binaries[i]));
    count += binaries.size();
  }
  return count;
}

Result<std::size_t> add_binaries(const PackageFile& file, const std::filesystem::path& output,
                                 const std::shared_ptr<hal::Device>& device,
                                 const BuildProgress& goes_on) {
  TL_ASSIGN_OR_RETURN(std::vector<Package> packages, file.whole_packages());
  TL_ASSIGN_OR_RETURN(const std::size_t count, add_binaries(packages, device, goes_on));
  TL_RETURN_IF_ERROR(write_packages(packages, output));
  return count;
}

}  // namespace texloom::runtime
