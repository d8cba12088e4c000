// A driver: the devices of one API.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/hal/device.h"
#include "runtime/hal/device_info.h"
#include "support/status.h"

namespace texloom::hal {

// Made by the create_driver of each folder under runtime/drivers. Thread safe. Devices keep what
// they need of it.
class Driver {
 public:
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  virtual std::string_view name() const = 0;  // "opencl"

  // GPUs first, then accelerators, then CPUs; the order is the same at each call. At least one.
  virtual const std::vector<DeviceInfo>& devices() const = 0;

  // The ordinal is the place in devices(). NotFound when there is no such place.
  virtual Result<std::shared_ptr<Device>> open(std::size_t ordinal) = 0;

 protected:
  Driver() = default;
};

}  // namespace texloom::hal
