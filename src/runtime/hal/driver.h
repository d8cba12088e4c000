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

// Made by the create_driver of each folder under runtime/drivers, or by a DriverRegistry. Thread
// safe. Devices keep what they need of it.
class Driver {
 public:
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  virtual std::string_view name() const = 0;  // "opencl"

  // GPUs first, then accelerators, then CPUs; the order is the same at each call. At least one.
  virtual const std::vector<DeviceInfo>& devices() const = 0;

  // Each call opens a device of its own, whose objects do not mix with another's. NotFound, naming
  // the devices there are, if none matches.
  //
  // The ordinal is the index in devices().
  Result<std::shared_ptr<Device>> open(std::size_t ordinal, const DeviceOptions& options = {});
  // DeviceInfo::id.
  Result<std::shared_ptr<Device>> open_by_id(std::string_view id,
                                             const DeviceOptions& options = {});
  // `device` is the part of a path after "<driver>://": an ordinal in digits, an id, or nothing for
  // the first.
  Result<std::shared_ptr<Device>> open_by_name(std::string_view device,
                                               const DeviceOptions& options = {});

 protected:
  Driver() = default;

 private:
  // The ordinal is one of devices().
  virtual Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                                      const DeviceOptions& options) = 0;
};

}  // namespace texloom::hal
