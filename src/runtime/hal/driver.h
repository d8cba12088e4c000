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

// Made by the create_driver function in each folder of runtime/drivers, or by a DriverRegistry.
// Thread safe. Devices keep alive the parts of the driver that they need.
class Driver {
 public:
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  virtual std::string_view name() const = 0;  // "opencl"

  // At least one device: GPUs first, then accelerators, then CPUs. The order is the same at each
  // call.
  virtual const std::vector<DeviceInfo>& devices() const = 0;

  // Opens a device. Each call returns a separate Device, whose objects cannot be combined with
  // objects of another Device. NotFound, naming the available devices, if none matches.
  //
  // `ordinal` is an index in devices().
  Result<std::shared_ptr<Device>> open(std::size_t ordinal, const DeviceOptions& options = {});
  // `id` is a DeviceInfo::id.
  Result<std::shared_ptr<Device>> open_by_id(std::string_view id,
                                             const DeviceOptions& options = {});
  // `device` is the part of a path after "<driver>:": an ordinal, an id, or empty for the first
  // device.
  Result<std::shared_ptr<Device>> open_by_name(std::string_view device,
                                               const DeviceOptions& options = {});

 protected:
  Driver() = default;

 private:
  // The ordinal is a valid index in devices().
  virtual Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                                      const DeviceOptions& options) = 0;
};

}  // namespace texloom::hal
