// The driver `host`: kernels run on the processor, in threads of the driver's own. It needs no
// device API and no compiler: a kernel is a function of the program (host_functions.h), or what a
// loader makes of code (kernel_loader.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/drivers/host/host_functions.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/driver.h"

namespace texloom::hal::host {

struct DriverOptions {
  // That run the groups of a dispatch; 0 stands for as many as the machine runs at the same time.
  unsigned threads = 0;
  // Of all buffers and textures of an open device: DeviceLimits::global_memory_bytes. 0 stands for
  // what the machine has.
  std::uint64_t memory_bytes = 0;
  std::vector<FunctionLibrary> libraries = {};
  // For code of other formats than HostFunctions; the first of a format counts. None is null.
  std::vector<std::shared_ptr<const KernelLoader>> loaders = {};
};

// A driver of one device, the processor.
std::shared_ptr<Driver> create_driver(DriverOptions options = {});

}  // namespace texloom::hal::host
