// Executables of the host driver.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/executable.h"

namespace texloom::hal::host {

class HostExecutable final : public Executable {
 public:
  // One kernel for each entry point.
  HostExecutable(std::shared_ptr<const DeviceInfo> info, std::vector<EntryPoint> entry_points,
                 std::vector<std::shared_ptr<const Kernel>> kernels)
      : Executable(std::move(info), std::move(entry_points)), kernels_(std::move(kernels)) {}

  const Kernel& kernel(std::uint32_t entry_point) const { return *kernels_[entry_point]; }

 private:
  std::vector<std::shared_ptr<const Kernel>> kernels_;
};

inline const HostExecutable& as_host(const Executable& executable) {
  return static_cast<const HostExecutable&>(executable);
}

}  // namespace texloom::hal::host
