// Links the native code of a launch plan: kernels are compiled one call site at a time, but a
// program loads one object.
#pragma once

#include <string>
#include <vector>

#include "runtime/package/needs.h"
#include "runtime/plan/plan.h"

namespace texloom::compile {

// Replaces the object files of all modules by one module with one shared object, which the driver
// "host" loads, and returns them. A plan without object files stays as it is. Fails with
// UnknownTarget if there are some but the LLVM plug-in is not installed.
std::vector<std::string> link_native_code(runtime::LaunchPlan& plan);

// The processor's architecture and the features that the native code of a plan needs, as names of
// DeviceInfo::extensions.
runtime::VariantNeeds processor_needs(const runtime::LaunchPlan& plan);

}  // namespace texloom::compile
