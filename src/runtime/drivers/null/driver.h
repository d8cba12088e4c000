// The driver `null`: checks and records everything, computes and keeps nothing. For tests of what
// uses drivers, and to copy from when writing one: each member here is one that a driver must have.
#pragma once

#include <memory>

#include "runtime/drivers/null/command_walk.h"
#include "runtime/hal/driver.h"

namespace texloom::hal::null {

// Its one device, whose limits are small, so that reaching them takes no memory.
DeviceInfo default_device();

struct DriverOptions {
  // Queues of the device leave waits for each other to the device.
  bool native_waits = false;
};

// A driver of one device with this description.
std::shared_ptr<Driver> create_driver(DeviceInfo device = default_device(),
                                      const DriverOptions& options = {});

// Counts over all queues of a device of this driver since it was opened. Thread safe.
Statistics statistics(const Device& device);

}  // namespace texloom::hal::null
