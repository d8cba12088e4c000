// Executables of the OpenCL driver: a program built from source or a binary, and its kernels.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/kernels/kernel_arguments.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The build options for this code and math mode, separated by spaces; for OpenCL C these include
// the option that makes kernels describe their arguments. InvalidArgument: an option of the code
// relaxes arithmetic in a way that the mode does not allow.
Result<std::string> build_options(const KernelCode& code, MathMode math);

class OpenClExecutable final : public Executable {
 public:
  // `desc` has passed check_creation(). Does not build the program yet.
  static Result<std::shared_ptr<Executable>> create(std::shared_ptr<const Context> context,
                                                    const ExecutableDesc& desc);

  // Makes another object of the kernel, with arguments of its own. Valid only after a successful
  // prepare(). Thread safe.
  Result<KernelHandle> make_kernel(std::uint32_t entry_point) const;

  // The kernel object that is shared by all calls in which the same parameters get addresses. The
  // kernel object stores its arguments: the caller must hold argument_mutex() until the kernel is
  // enqueued. Valid only after a successful prepare().
  Result<cl_kernel> kernel(std::uint32_t entry_point, const AddressedParams& addressed) const;
  std::mutex& argument_mutex() const { return argument_mutex_; }

 private:
  // How the program can be made.
  struct Codes {
    KernelCode code;
    std::string options;
    std::optional<KernelCode> binary;  // that this device's driver made of a source; beside `code`
    bool builds_anew = false;
  };
  OpenClExecutable(std::shared_ptr<const Context> context, std::vector<EntryPoint> entry_points,
                   Codes codes);
  bool has_source() const { return codes_.code.format == KernelFormat::OpenClC; }
  // Whether executables with the same key may have one program, also from earlier processes.
  bool may_share() const { return has_source() && !codes_.builds_anew; }
  Status build() override;
  // Loads the program from the binary beside the source, or from the device's binary cache, if
  // possible; otherwise builds it from the code and stores the binary in the cache. `key` is empty
  // without a source.
  Result<ProgramHandle> load_or_build(const BinaryKey& key) const;
  Result<KernelCode> built_binary() const override;

  std::shared_ptr<const Context> context_;
  Codes codes_;                                   // build() releases what is no longer needed
  std::optional<BinaryOrigin> origin_;            // of the program's binary, if it has a source
  std::shared_ptr<const ProgramHandle> program_;  // made by build(), like the kernels
  std::vector<KernelHandle> kernels_;             // by entry point
  mutable std::mutex argument_mutex_;
  // Keyed by the entry point and its parameters with addresses, at least one.
  mutable std::map<std::pair<std::uint32_t, AddressedParams>, KernelHandle> addressed_kernels_;
};

inline const OpenClExecutable& as_opencl(const Executable& executable) {
  return static_cast<const OpenClExecutable&>(executable);
}

}  // namespace texloom::hal::opencl
