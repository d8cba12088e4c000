// The device on which a package runs if none is named.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/package/package.h"

namespace texloom::python {

struct DefaultDevice {
  std::string name;  // "opencl:0"
  std::size_t variant = 0;
};

// Tries the variants in order, and returns the first device that can run one, with the variant for
// this device. Returns the first device of the first variant's driver if no device can run a
// variant, and also, without looking for devices, if the package has only one variant.
DefaultDevice default_device_of(const runtime::Package& package);

}  // namespace texloom::python
