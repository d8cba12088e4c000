// Determines what a module needs from a device, and checks it.
#pragma once

#include "compile/module.h"
#include "runtime/hal/device_info.h"

namespace texloom::compile {

// `program` must be legalized for the target.
Requirements requirements_of(const ir::Program& program, const ir::Target& target);

// Fails with UnsupportedType, at `where`, if the device lacks what the module needs.
void check_requirements(const CompiledModule& module, const hal::DeviceInfo& device,
                        const SourceLocation& where);

}  // namespace texloom::compile
