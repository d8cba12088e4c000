#include "runtime/plan/kernels.h"

#include <algorithm>
#include <utility>

namespace texloom::runtime {

Result<PlanKernels> create_kernels(hal::Device& device, const LaunchPlan& plan, bool builds_anew) {
  std::vector<hal::ExecutableDesc> descs(plan.modules.size());
  for (std::size_t i = 0; i < descs.size(); ++i) {
    descs[i].codes = plan.modules[i].codes;
    descs[i].math = plan.modules[i].math;
    descs[i].build = hal::BuildTime::FirstUse;
    descs[i].builds_anew = builds_anew;
  }
  std::vector<std::uint32_t> entry_points;  // by kernel
  for (const KernelSpec& kernel : plan.kernels) {
    std::vector<hal::EntryPoint>& entries = descs[kernel.module].entry_points;
    entry_points.push_back(static_cast<std::uint32_t>(entries.size()));
    entries.push_back(kernel.entry);
  }
  PlanKernels made;
  for (const hal::ExecutableDesc& desc : descs) {
    TL_ASSIGN_OR_RETURN(auto executable, device.create_executable(desc));
    made.executables.push_back(std::move(executable));
  }
  for (std::size_t i = 0; i < plan.kernels.size(); ++i)
    made.kernels.push_back({made.executables[plan.kernels[i].module], entry_points[i]});
  return made;
}

std::uint32_t first_kernel_of(const LaunchPlan& plan, std::size_t module) {
  const auto found =
      std::find_if(plan.kernels.begin(), plan.kernels.end(),
                   [&](const KernelSpec& kernel) { return kernel.module == module; });
  return static_cast<std::uint32_t>(found - plan.kernels.begin());
}

}  // namespace texloom::runtime
