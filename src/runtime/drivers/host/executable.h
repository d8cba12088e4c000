// Executables of the host driver.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/executable.h"

namespace texloom::hal::host {

class HostExecutable final : public Executable {
 public:
  // `code` must have the loader's format.
  HostExecutable(std::shared_ptr<const DeviceInfo> info, std::shared_ptr<const KernelLoader> loader,
                 std::string code, std::vector<EntryPoint> entry_points)
      : Executable(std::move(info), std::move(entry_points)),
        loader_(std::move(loader)),
        code_(std::move(code)) {}

  // Valid only after a successful prepare().
  const Kernel& kernel(std::uint32_t entry_point) const { return *kernels_[entry_point]; }

 private:
  Status build() override {
    TL_ASSIGN_OR_RETURN(kernels_, loader_->load(code_, entry_points()));
    return {};
  }

  std::shared_ptr<const KernelLoader> loader_;
  std::string code_;
  std::vector<std::shared_ptr<const Kernel>> kernels_;
};

}  // namespace texloom::hal::host
