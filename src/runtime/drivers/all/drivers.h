// The one list of the drivers that this build has.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/hal/binary_cache.h"
#include "runtime/hal/driver_registry.h"
#include "support/status.h"

namespace texloom::hal {

struct DriversOptions {
  // Gives the cache of compiled kernels, or null for none, to each driver that compiles. Called
  // when a driver that compiles is first used.
  std::function<std::shared_ptr<BinaryCache>()> binary_cache = [] { return nullptr; };
  // For the driver "host": loaders of code in formats other than functions of the program and
  // native code, which the system's loader loads.
  std::vector<std::shared_ptr<const host::KernelLoader>> loaders = {};
  // For the driver "host": the files of native code stay for profilers (host/native_objects.h).
  bool keeps_native_code = false;
};

// Adds "opencl"; "metal" on Apple's systems; "host"; and "null", whose device computes nothing. A
// program that uses only one driver can call that driver's create_driver(), and links less.
// InvalidArgument if one of the names was added before.
Status add_drivers(DriverRegistry& registry, const DriversOptions& options = {});

// Captures of the work of a driver's devices for the tools of their vendor, as declared in
// metal/api/capture.h.
struct Capture {
  Status (*check)(std::size_t ordinal, const std::string& path);
  Status (*start)(std::size_t ordinal, const std::string& path);
  void (*stop)();
};

// Null if the driver makes no captures, or this build does not have it.
const Capture* capture_of(std::string_view driver);

}  // namespace texloom::hal
