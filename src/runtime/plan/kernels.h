// The executables of a plan's modules, and where its kernels are in them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/hal/device.h"
#include "runtime/hal/executable.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// A kernel as a dispatch names it.
struct LoadedKernel {
  std::shared_ptr<hal::Executable> executable;
  std::uint32_t entry_point = 0;
};

struct PlanKernels {
  std::vector<std::shared_ptr<hal::Executable>> executables;  // by module
  std::vector<LoadedKernel> kernels;                          // by kernel
};

// Creates an executable for each module of a valid plan, to be built at first use
// (builds/kernel_builds.h); see hal::ExecutableDesc for `builds_anew`. The errors of
// Device::create_executable.
Result<PlanKernels> create_kernels(hal::Device& device, const LaunchPlan& plan,
                                   bool builds_anew = false);

// The first kernel of a module; the number of kernels if it has none.
std::uint32_t first_kernel_of(const LaunchPlan& plan, std::size_t module);

}  // namespace texloom::runtime
