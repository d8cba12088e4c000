// The driver `host` runs kernels on the processor, in its own threads. The driver needs no device
// API and no compiler: a kernel is a function of the program (host_functions.h), or is made from
// code by a loader (kernel_loader.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/drivers/host/host_functions.h"
#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/driver.h"

namespace texloom::hal::host {

struct DriverOptions {
  // The number of threads that run the groups of a dispatch; 0: the hardware concurrency.
  unsigned threads = 0;
  // The limit for all buffers and textures of an open device (DeviceLimits::global_memory_bytes);
  // 0: the memory of the machine that this process may use (docs/hal.md, "Memory").
  std::uint64_t memory_bytes = 0;
  std::vector<FunctionLibrary> libraries = {};
  // Kernels that the program links (linked_kernels.h). None may be null.
  std::vector<const texloom_linked_kernels*> linked = {};
  // Loaders for code in formats other than HostFunctions; the first one for a format is used. None
  // may be null.
  std::vector<std::shared_ptr<const KernelLoader>> loaders = {};
};

// Creates a driver with one device, the processor.
std::shared_ptr<Driver> create_driver(DriverOptions options = {});

}  // namespace texloom::hal::host
