// Opens package files, and runs those that load.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/hal/device.h"

namespace texloom::fuzz {

enum class Outcome {
  Refused,  // by PackageFile::open, with a message
  Loaded,   // but no device takes any variant: too large, too long, damaged constants
  Ran,      // at least one variant, on at least one device
};

// Has a device of the driver `null` and one of `host`, whose kernels are interpreted. A crash, a
// report of a sanitizer and an exception are findings, as is an error without a message.
class PackageRunner {
 public:
  PackageRunner();

  Outcome run(std::span<const std::byte> file);

 private:
  std::shared_ptr<hal::Device> null_, host_;
};

}  // namespace texloom::fuzz
