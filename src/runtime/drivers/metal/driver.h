// The Metal driver, for GPUs of macOS 13, iOS 16 and later, from the A11 and the Mac2 family on.
// Only builds of the runtime with TEXLOOM_METAL have this driver.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/hal/binary_cache.h"
#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal::metal {

struct DriverOptions {
  // A cache of compiled programs; if null, they are built from source each time.
  std::shared_ptr<BinaryCache> binary_cache = {};
  // The size of the blocks of host memory through which a queue moves updates and readbacks, and
  // rows that Metal does not copy from or to textures. A nonzero multiple of 16.
  std::uint64_t staging_bytes = std::uint64_t{1} << 20;
  // The size of the heaps that serve allocations of device memory up to a sixteenth of this size.
  // 0: no heaps, so each allocation has memory of its own.
  std::uint64_t heap_bytes = std::uint64_t{1} << 24;
};

// Unavailable if the system has no Metal device.
Result<std::shared_ptr<Driver>> create_driver(const DriverOptions& options = {});

}  // namespace texloom::hal::metal
