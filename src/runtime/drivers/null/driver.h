// The driver `null`: everything is checked and recorded, and nothing is computed or kept. For tests
// of what stands above the drivers, and to copy from when writing one: each member here is one that
// a driver has to have.
#pragma once

#include <memory>

#include "runtime/drivers/null/command_walk.h"
#include "runtime/hal/driver.h"

namespace texloom::hal::null {

// The limits of its one device: small ones, so that reaching them takes no memory.
DeviceInfo default_device();

// A driver of one device that is described so.
std::shared_ptr<Driver> create_driver(DeviceInfo device = default_device());

// Of all queues of a device of this driver since it was opened. Thread safe.
Statistics statistics(const Device& device);

}  // namespace texloom::hal::null
