// Kernels that the driver `host` runs with the reference interpreter: slowly, exactly, and with
// every check. The runtime does not know the IR; it gets this loader (host/kernel_loader.h).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "compile/module.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/launch_plan.h"

namespace texloom::compile {

struct InterpreterLoaderOptions {
  // The limit for one launch; see ir::InterpretOptions.
  int64_t max_steps = std::numeric_limits<int64_t>::max();
};

// A loader for KernelFormat::Ir, whose code is the text (.tl) of a program at stage kernels or
// legalized. Entry points are its kernels, by their names.
//
// A launch runs in one thread, since one run has to see all groups to find races between them. The
// interpreter's report (a race, an access out of bounds, a divergent barrier, …) is the error of
// the submission; whatever the kernel wrote before that stays written. Buffers and textures count
// as defined: only interpreting a whole program finds reads of elements that nothing has written.
std::shared_ptr<const hal::host::KernelLoader> make_interpreter_loader(
    const InterpreterLoaderOptions& options = {});

// Adds that code to each kernel of the module's launch plan, after the code it has: drivers of
// devices take the first, and the driver `host` takes this one. Each kernel gets a program of its
// own.
void add_interpreted_code(const CompiledModule& module, runtime::LaunchPlan& plan);

}  // namespace texloom::compile
