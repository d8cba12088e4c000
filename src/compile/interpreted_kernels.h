// Lets the driver `host` run kernels with the reference interpreter: slowly, exactly, and with
// every check. The runtime does not know the IR, so it is given this loader (host/kernel_loader.h).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "compile/module.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/plan/plan.h"

namespace texloom::compile {

struct InterpreterLoaderOptions {
  // The limit for one launch; see ir::InterpretOptions.
  int64_t max_steps = std::numeric_limits<int64_t>::max();
};

// Makes a loader for KernelFormat::Ir, whose code is the text (.tl) of a program at stage kernels
// or legalized. Entry points are the names of its kernels.
// A launch runs in one thread, since one run has to see all groups to find races between groups.
// The interpreter's report (a race, an access out of bounds, a divergent barrier, …) becomes the
// error of the submission; values that the kernel wrote before the error remain. Buffers and
// textures count as defined: reads of unwritten elements are found only by interpreting a whole
// program.
std::shared_ptr<const hal::host::KernelLoader> make_interpreter_loader(
    const InterpreterLoaderOptions& options = {});

// Adds code in KernelFormat::Ir to each module of the launch plan, after the module's other code:
// drivers of devices use the code that comes first, and the driver `host` uses the added code.
// Modules with native code, which `host` runs, stay as they are.
// Code without locations does not reveal the user's file names: reports name lines of its own text
// instead of the user's lines.
enum class CodeLocations : uint8_t { Keep, LeaveOut };
void add_interpreted_code(const CompiledModule& module, runtime::LaunchPlan& plan,
                          CodeLocations locations = CodeLocations::Keep);

}  // namespace texloom::compile
