// The devices of the process, by driver and number.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "runtime/hal/device.h"
#include "support/status.h"

namespace texloom::python {

// The driver that computes nothing. Python opens its device only when a user names it.
inline constexpr const char* kNullDriver = "null";

// Opened when it is first used.
struct PyDevice {
  std::string driver = "opencl";
  size_t ordinal = 0;

  auto operator<=>(const PyDevice&) const = default;
};
std::string to_string(const PyDevice& device);  // "opencl(0)"

// The drivers there are: "opencl", "host", "null".
std::vector<std::string> driver_names();

// The devices of a driver. Unavailable where the driver finds none.
Result<std::vector<hal::DeviceInfo>> device_infos(const std::string& driver);

// Fails with NoDevice when there is no driver or no device of that number. Devices stay open for
// the life of the process.
const std::shared_ptr<hal::Device>& open_device(const PyDevice& device);

// Waits for all work on a device, or on all that are open. Ctrl-C ends the waiting; the device goes
// on.
void wait_for(hal::Device& device);
void wait_for_open_devices();

// Has devices that are opened from now on report to the profile what they run. Returns false, and
// does nothing, if one is open already.
bool profile_devices(std::shared_ptr<hal::Profile> profile);

// At exit: waits for all devices. Work that runs may be in an implementation's own compiler (PoCL
// compiles kernels when they first run), which crashes if the process destroys its globals
// meanwhile. A user who does not want to wait presses Ctrl-C, and leaves without destroying them.
void close_devices();

// Fails with the diagnostic for the status, at the user's line, unless it is ok.
void throw_if_error(const Status& status);

}  // namespace texloom::python
