// The drivers that the conformance suite knows, and what it has to know of each.
//
// The tests are one list for all of them. A driver takes part by one file of drivers/, which makes
// a `Registration`: linking that file is enough. Tests run on every device that a driver lists.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal::conformance {

// A test that a driver fails, and why that is left so. It is run all the same, and fails the suite
// when it passes.
struct Exclusion {
  std::string test;    // "Suite.Test", of all its instances; or "Suite.Test/parameter"
  std::string device;  // a part of the device's name or platform; empty for all
  std::string reason;
};

struct TestedDriver {
  std::string name;  // letters and digits

  // Unavailable where there is no such device here: its tests are skipped then.
  Result<std::shared_ptr<Driver>> (*create)() = nullptr;

  // Whether contents are kept and kernels run. Without it nothing is expected of contents.
  bool computes = true;

  // An executable of kernels of kernels.h, in a language of the driver's.
  ExecutableDesc (*kernels)(std::vector<EntryPoint> entry_points) = nullptr;

  // Code that cannot be built, for one entry point without parameters; null without a compiler.
  // What the driver says of it holds `broken_says`.
  ExecutableDesc (*broken)() = nullptr;
  std::string broken_says = {};

  // A function for native commands that sets so many bytes of the first memory; null for a driver
  // that calls none.
  EncodeNative (*native_fill)(std::uint64_t bytes, std::byte value) = nullptr;

  // Whether a device gives out DeviceLimits::global_memory_bytes and no more, all of which a test
  // may take.
  bool exhaustible = false;

  std::vector<Exclusion> exclusions = {};
};

// Entry points of one text.
inline ExecutableDesc kernels_in(KernelFormat format, std::string code,
                                 std::vector<EntryPoint> entry_points) {
  return {.codes = {{.format = format, .code = std::move(code)}},
          .entry_points = std::move(entry_points)};
}

// Makes a driver known, as a static object of the driver's file.
struct Registration {
  explicit Registration(TestedDriver driver);
};

// A device under test; without a driver when there is none here.
struct TestedDevice {
  const TestedDriver* tested = nullptr;
  std::shared_ptr<Driver> driver;
  std::size_t ordinal = 0;
  std::string label;  // "opencl", the second device "opencl2", …
  Status missing;     // why there is none

  std::string described() const;  // "PoCL … (Portable Computing Language)"
  const Exclusion* exclusion_of(std::string_view test) const;
};

// All of them, in the order of labels; the same at each call.
const std::vector<TestedDevice>& tested_devices();

}  // namespace texloom::hal::conformance
