#include "runtime/executor/package_binaries.h"

#include <chrono>
#include <utility>

#include "runtime/builds/kernel_builds.h"
#include "runtime/executor/executor.h"
#include "runtime/package/package_writer.h"
#include "runtime/plan/kernels.h"

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

// Runs a package, whose sizes are known and which calls no custom operators, with zeros as inputs.
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
  if (device->info().features.compiles_at_first_run && plan.symbols.empty() && plan.calls.empty())
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
