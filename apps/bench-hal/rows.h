// Makes the rows of the table: measurements of the HAL, each with its OpenCL counterpart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/comparison/comparison.h"
#include "runtime/hal/device_info.h"
#include "support/status.h"

namespace texloom::bench_hal {

struct Rows {
  hal::DeviceInfo device;
  std::vector<comparison::Comparison> comparisons;
  std::vector<std::string> left_out;  // rows that this device cannot run, with the reason
};

// `device` is an ordinal or an id of the OpenCL driver, a path that begins with "opencl://", or
// empty for the first device.
Result<Rows> make_rows(std::string_view device);

}  // namespace texloom::bench_hal
