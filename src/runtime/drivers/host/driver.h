// The driver `host`: kernels run on the processor, in threads of the driver. It needs no device API
// and no compiler: a kernel is a function of the program (host_functions.h), or made from code by a
// loader (kernel_loader.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/drivers/host/host_functions.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/driver.h"

namespace texloom::hal::host {

struct DriverOptions {
  // Threads that run the groups of a dispatch; 0: as many as the machine runs at the same time.
  unsigned threads = 0;
  // For all buffers and textures of an open device: DeviceLimits::global_memory_bytes. 0: the
  // memory of the machine.
  std::uint64_t memory_bytes = 0;
  std::vector<FunctionLibrary> libraries = {};
  // For code of formats other than HostFunctions; the first of a format counts. None may be null.
  std::vector<std::shared_ptr<const KernelLoader>> loaders = {};
};

// A driver of one device, the processor.
std::shared_ptr<Driver> create_driver(DriverOptions options = {});

}  // namespace texloom::hal::host
