// Kernels of the driver `host` that the reference interpreter runs: slowly, exactly, and with every
// check. The runtime knows nothing of the IR: this is what it is given (host/kernel_loader.h).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "codegen/opencl/module.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/launch_plan.h"

namespace texloom::package {

struct InterpreterLoaderOptions {
  // Of one launch: see ir::InterpretOptions.
  int64_t max_steps = std::numeric_limits<int64_t>::max();
};

// A loader for KernelFormat::Ir, whose code is the text (.tl) of a program at stage kernels or
// legalised. Entry points are its kernels, by their names.
//
// A launch is run by one thread, since races between groups show only where one run sees them all.
// What the interpreter reports (races, accesses out of bounds, divergent barriers, …) is the error
// of the submission; what the kernel has written until then stays written. Contents of buffers and
// textures count as defined: what nobody has written is found by interpreting the whole program.
std::shared_ptr<const hal::host::KernelLoader> make_interpreter_loader(
    const InterpreterLoaderOptions& options = {});

// Adds that code to the kernels of the module's launch plan, behind what they have: drivers of
// devices take theirs, and the driver `host` takes this.
void add_interpreted_code(const codegen::opencl::CompiledModule& module, runtime::LaunchPlan& plan);

}  // namespace texloom::package
