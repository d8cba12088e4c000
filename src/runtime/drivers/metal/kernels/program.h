// Executables of the Metal driver: the pipelines of a library's kernels.
#pragma once

#include <memory>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/kernels/build_options.h"
#include "runtime/drivers/metal/kernels/kernel_slots.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::metal {

// A kernel that can be encoded.
struct Kernel {
  Handle<MetalPipeline> pipeline;
  KernelSlots slots;
  // Whether indirect commands can run the kernel. Indirect commands take no arguments as bytes, no
  // textures outside of argument buffers and, before macOS 14 and iOS 17, no sizes of threadgroup
  // memory.
  bool is_recordable = false;
};

class MetalExecutable final : public Executable {
 public:
  // `desc` has passed check_creation(). Does not build the library yet.
  static Result<std::shared_ptr<Executable>> create(std::shared_ptr<const Context> context,
                                                    const ExecutableDesc& desc);

  // Valid only after a successful prepare().
  const Kernel& kernel(std::uint32_t entry_point) const { return kernels_[entry_point]; }

 private:
  MetalExecutable(std::shared_ptr<const Context> context, std::vector<EntryPoint> entry_points,
                  std::vector<ProgramCode> codes);
  Status build() override;
  Status build(const ProgramCode& code);

  std::shared_ptr<const Context> context_;
  std::vector<ProgramCode> codes_;  // in order of preference; kept until one is built
  std::vector<Kernel> kernels_;     // by entry point; made by build()
};

inline const MetalExecutable& as_metal(const Executable& executable) {
  return static_cast<const MetalExecutable&>(executable);
}
// The kernel of a call whose executable is prepared.
inline const Kernel& kernel_of(const KernelCall& call) {
  return as_metal(*call.executable).kernel(call.entry_point);
}

}  // namespace texloom::hal::metal
