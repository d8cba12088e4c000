// Kernels in native code of this machine's processor.
#pragma once

#include <memory>

#include "runtime/drivers/host/kernel_loader.h"

namespace texloom::hal::host {

struct NativeLoaderOptions {
  // Leaves the file of each object in the folder of temporary files, where a profiler looks for the
  // names of functions when the process has ended. Debuggers read the file when it is loaded.
  bool keeps_files = false;
};

// Makes a loader for KernelFormat::NativeObject, whose code is a shared object with a function for
// each entry point (native_abi.h). The system's loader loads the object from a temporary file, so
// that debuggers and profilers find it; the kernels keep it loaded.
std::shared_ptr<const KernelLoader> make_native_loader(NativeLoaderOptions options = {});

}  // namespace texloom::hal::host
