#include "runtime/executor/package_binaries.h"

#include <utility>

#include "runtime/builds/kernel_builds.h"
#include "runtime/package/package_writer.h"
#include "runtime/plan/kernels.h"

namespace texloom::runtime {
namespace {

using hal::KernelCode;

// Returns the binary of each module.
Result<std::vector<KernelCode>> binaries_of(const LaunchPlan& plan, hal::Device& device,
                                            const BuildProgress& goes_on) {
  TL_ASSIGN_OR_RETURN(const PlanKernels kernels, create_kernels(device, plan));
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
    auto binaries = binaries_of(plan, *device, goes_on);
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
