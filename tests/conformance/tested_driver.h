// Declares the drivers that the conformance suite tests, and what the suite must know about each.
//
// All drivers share one list of tests. A driver takes part by one file in drivers/ that defines a
// `Registration`; linking that file is enough. Tests run on every device that a driver lists.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/hal/binary_cache.h"
#include "runtime/hal/driver.h"
#include "support/status.h"
#include "tests/conformance/application.h"

namespace texloom::hal::conformance {

// A test that a driver is known to fail, and why. The test still runs, and must not pass.
struct Exclusion {
  std::string test;    // "Suite.Test" for all its instances, or "Suite.Test/parameter"
  std::string device;  // a part of the device's name or platform; empty for all devices
  std::string reason;
};

struct TestedDriver {
  std::string name;  // letters and digits

  // Returns Unavailable if the machine lacks the device: the driver's tests are then skipped.
  Result<std::shared_ptr<Driver>> (*create)() = nullptr;

  // Creates the driver with a cache of compiled programs; null for a driver that compiles nothing.
  Result<std::shared_ptr<Driver>> (*create_cached)(std::shared_ptr<BinaryCache> cache) = nullptr;

  // Whether the driver keeps contents and runs kernels. If not, contents are not checked.
  bool computes = true;

  // Makes an executable of kernels from kernels.h, in a language of the driver.
  ExecutableDesc (*kernels)(std::vector<EntryPoint> entry_points) = nullptr;

  // Makes code that cannot be built, for one entry point without parameters; null without a
  // compiler. The driver's message must contain `broken_says`.
  ExecutableDesc (*broken)() = nullptr;
  std::string broken_says = {};

  // Makes a native command that sets the first `bytes` bytes of the first memory; null for a driver
  // without native commands.
  EncodeNative (*native_fill)(std::uint64_t bytes, std::byte value) = nullptr;

  // Makes an application that shares its objects with the driver (application.h); null for a driver
  // without an API.
  std::unique_ptr<Application> (*make_application)(Device& device) = nullptr;

  // Whether a device allocates exactly up to DeviceLimits::global_memory_bytes, and tests may use
  // all of it.
  bool exhaustible = false;

  std::vector<Exclusion> exclusions = {};
};

// Describes an executable from one source text.
inline ExecutableDesc kernels_in(KernelFormat format, std::string code,
                                 std::vector<EntryPoint> entry_points) {
  return {.codes = {{.format = format, .code = std::move(code)}},
          .entry_points = std::move(entry_points)};
}

// Registers a driver; a static object in the driver's file.
struct Registration {
  explicit Registration(TestedDriver driver);
};

// A device under test; `driver` is null if the device is missing.
struct TestedDevice {
  const TestedDriver* tested = nullptr;
  std::shared_ptr<Driver> driver;
  std::size_t ordinal = 0;
  std::string label;  // "opencl", the second device "opencl2", …
  Status missing;     // why the device is missing

  std::string described() const;  // "PoCL … (Portable Computing Language)"
  const Exclusion* exclusion_of(std::string_view test) const;
};

// Returns all devices, ordered by label; every call returns the same list.
const std::vector<TestedDevice>& tested_devices();

}  // namespace texloom::hal::conformance
