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

// The first device that can run one of the variants, which are tried in their order, and the
// variant that it gets. Without any, the first device of the driver that the first variant is for;
// as for a package of one variant, whose devices are not opened.
DefaultDevice default_device_of(const runtime::Package& package);

}  // namespace texloom::python
