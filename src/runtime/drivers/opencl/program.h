// Executables of the OpenCL driver: a program built from source or a binary, and its kernels.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The build options, one behind the other, for this code and math mode: of OpenCL C also those
// under which kernels describe their arguments. InvalidArgument: an option of the code relaxes
// arithmetic in a way that the mode does not allow.
Result<std::string> build_options(const KernelCode& code, MathMode math);

class OpenClExecutable final : public Executable {
 public:
  // `desc` has passed hal/creation_check.h. Not built yet.
  static Result<std::shared_ptr<Executable>> create(std::shared_ptr<const Context> context,
                                                    const ExecutableDesc& desc);

  // Only behind a prepare() that succeeded.
  cl_kernel kernel(std::uint32_t entry_point) const { return kernels_[entry_point].get(); }

  // A kernel holds its arguments: whoever sets them keeps this until the kernel is enqueued.
  std::mutex& argument_mutex() const { return argument_mutex_; }

 private:
  OpenClExecutable(std::shared_ptr<const Context> context, std::vector<EntryPoint> entry_points,
                   KernelCode code, std::string options);
  // From the device's binary cache where it can be, else from the code, which then goes there.
  Status build() override;

  std::shared_ptr<const Context> context_;
  KernelCode code_;
  std::string options_;
  ProgramHandle program_;              // made by build(), like the kernels
  std::vector<KernelHandle> kernels_;  // by entry point
  mutable std::mutex argument_mutex_;
};

inline const OpenClExecutable& as_opencl(const Executable& executable) {
  return static_cast<const OpenClExecutable&>(executable);
}

}  // namespace texloom::hal::opencl
