// Kernels in native code of this machine's processor.
#pragma once

#include <memory>

#include "runtime/drivers/host/kernel_loader.h"

namespace texloom::hal::host {

// Makes a loader for KernelFormat::NativeObject, whose code is a shared object with a function for
// each entry point (native_abi.h). The system's loader loads the object, so that debuggers and
// profilers find it; the kernels keep it loaded.
std::shared_ptr<const KernelLoader> make_native_loader();

}  // namespace texloom::hal::host
