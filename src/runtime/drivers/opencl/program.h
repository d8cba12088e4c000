// Executables of the OpenCL driver: a program built from source and its kernels.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::opencl {

class OpenClExecutable final : public Executable {
 public:
  // `desc` has passed hal/creation_check.h.
  static Result<std::shared_ptr<Executable>> create(std::shared_ptr<const Context> context,
                                                    const ExecutableDesc& desc);

  cl_kernel kernel(std::uint32_t entry_point) const { return kernels_[entry_point].get(); }

  // A kernel holds its arguments: whoever sets them keeps this until the kernel is enqueued.
  std::mutex& argument_mutex() const { return argument_mutex_; }

 private:
  OpenClExecutable(std::shared_ptr<const Context> context, const ExecutableDesc& desc,
                   ProgramHandle program, std::vector<KernelHandle> kernels);

  std::shared_ptr<const Context> context_;
  ProgramHandle program_;
  std::vector<KernelHandle> kernels_;  // by entry point
  mutable std::mutex argument_mutex_;
};

inline const OpenClExecutable& as_opencl(const Executable& executable) {
  return static_cast<const OpenClExecutable&>(executable);
}

}  // namespace texloom::hal::opencl
