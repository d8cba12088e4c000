// The driver `null` checks and records everything, but computes and stores nothing. The driver
// serves to test code that uses drivers, and as a template for new drivers: it has only the members
// that a driver must have.
#pragma once

#include <memory>

#include "runtime/drivers/null/command_walk.h"
#include "runtime/hal/driver.h"

namespace texloom::hal::null {

// The driver's only device. Its limits are small, so that tests reach them without much memory.
DeviceInfo default_device();

struct DriverOptions {
  // Whether the device's queues wait for each other natively.
  bool native_waits = false;
};

// Creates a driver with one device of this description.
std::shared_ptr<Driver> create_driver(DeviceInfo device = default_device(),
                                      const DriverOptions& options = {});

// The counts of all queues of a device of this driver since it was opened. Thread safe.
Statistics statistics(const Device& device);

}  // namespace texloom::hal::null
