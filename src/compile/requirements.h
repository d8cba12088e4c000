// Determines what a module needs from a device, and checks it.
#pragma once

#include "compile/module.h"
#include "runtime/hal/device_info.h"

namespace texloom::compile {

// `program` must be legalized for the target.
Requirements requirements_of(const ir::Program& program, const ir::Target& target);

// Fails at `where`: with NoDevice if the device runs kernels of another kind of target, and with
// UnsupportedType if it lacks what the module needs.
void check_requirements(const CompiledModule& module, const hal::DeviceInfo& device,
                        const SourceLocation& where);

}  // namespace texloom::compile
