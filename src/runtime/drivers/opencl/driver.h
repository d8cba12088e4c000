// The OpenCL driver, for OpenCL 1.2 and later, through a loader that is found at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/hal/binary_cache.h"
#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal::opencl {

struct Api;

struct DriverOptions {
  // Libraries to try, in order: names for the dynamic linker or full paths.
  std::vector<std::string> loader_paths = {"libOpenCL.so.1", "libOpenCL.so"};
  // A cache of compiled programs; if null, they are built from source each time.
  std::shared_ptr<BinaryCache> binary_cache = {};
  // DeviceLimits::transfer_alignment of all devices. OpenCL supports any offset and length; 4 is
  // for testing the kernels that other devices need.
  std::uint64_t transfer_alignment = 1;
  // The size of the scratch memory that a queue allocates at first use, for unaligned updates and
  // for copies between textures and rows with gaps, which are done in blocks. A nonzero multiple of
  // 16.
  std::uint64_t scratch_bytes = std::uint64_t{1} << 20;
};

// Unavailable, naming the packages to install, if there is no loader or no device.
Result<std::shared_ptr<Driver>> create_driver(const DriverOptions& options = {});

// Like create_driver() above, with the caller's function table; loader_paths is ignored.
Result<std::shared_ptr<Driver>> create_driver(std::shared_ptr<const Api> api,
                                              const DriverOptions& options = {});

}  // namespace texloom::hal::opencl
