// Determines what compiled programs need from a device, and checks it.
#pragma once

#include <span>

#include "compile/module.h"
#include "runtime/hal/device_info.h"
#include "runtime/package/needs.h"
#include "runtime/plan/plan.h"

namespace texloom::compile {

// The optional features of devices that the kernels of a program use. The program must be legalized
// for the target.
runtime::VariantNeeds features_of(const ir::Program& program, const ir::Target& target);

// The needs of a plan with these modules' kernels: the kernels' features, and memory for all
// tensors of a run on the device, including constants and workspace. Sizes that only a run
// determines do not count.
runtime::VariantNeeds needs_of(const runtime::LaunchPlan& plan,
                               std::span<const CompiledModule* const> modules);

// Fails at `where`: with NoDevice if the device runs kernels of another kind of target, and with
// UnsupportedType if the device lacks a feature that the module needs.
void check_device(const CompiledModule& module, const hal::DeviceInfo& device,
                  const SourceLocation& where);

}  // namespace texloom::compile
