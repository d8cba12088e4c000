// Opens the devices of the process, by driver and number.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/handles.h"
#include "runtime/executor/device_program.h"
#include "runtime/hal/device.h"
#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::python {

// The driver that computes nothing. Python opens its device only if a user names it.
inline constexpr const char* kNullDriver = "null";

// A device by driver and number; opened when it is first used. A device over an application's
// objects is open, and a device of its own.
struct PyDevice {
  std::string driver = "opencl";
  size_t ordinal = 0;
  std::shared_ptr<hal::Device> shared = {};  // null unless it is over an application's objects

  auto operator<=>(const PyDevice&) const = default;
};
std::string to_string(const PyDevice& device);  // "opencl(0)", "opencl(0) with shared objects"

// The available drivers: "opencl", "host", "null".
std::vector<std::string> driver_names();

// The devices of a driver. Fails with Unavailable if the driver finds none.
Result<std::vector<hal::DeviceInfo>> device_infos(const std::string& driver);

// Opens a device, or returns it if it is open. Fails with NoDevice if there is no such driver or no
// device of that number. Devices stay open for the lifetime of the process. The reference is valid
// as long as `device`.
const std::shared_ptr<hal::Device>& open_device(const PyDevice& device);

// Opens a device over an application's objects, or returns the one that is open over them. It is
// closed with its last user. Fails with BadArgument for objects that do not fit.
PyDevice device_over(const std::string& driver, const hal::NativeDevice& objects);

// Like throw_if_error(), for calls that an application's objects may fail.
void throw_if_unfit(const Status& status);

// Waits for all work on a device, or on all open devices. Ctrl-C ends the wait, but not the work.
// A wait of some seconds is explained on stderr.
void wait_for(hal::Device& device);
void wait_for_open_devices();

// Whether long waits are explained on stderr; true at first. Called with the GIL held.
bool shows_notices();
void show_notices(bool enabled);

// Some devices compile a kernel at its first run. From now on, a notice of a wait for such a device
// names the kernel of this program that the device is compiling.
void explain_waits_for(const std::shared_ptr<runtime::DeviceProgram>& program);

// Throws the exception of a signal during work on a device. For Ctrl-C, prints first on stderr that
// the work on the device continues.
[[noreturn]] void throw_interrupt(py::error_already_set error);

// Warns, once, if compiled kernels cannot be stored in the folder TEXLOOM_CACHE_DIR.
void warn_of_unusable_cache();

// Makes devices that are opened from now on record their work in the profile. Returns false, and
// does nothing, if a device is already open.
bool profile_devices(std::shared_ptr<hal::Profile> profile);

// Waits for all devices, at exit. Running work may be in an implementation's compiler (PoCL
// compiles kernels when they first run), which crashes if the process destroys global objects
// meanwhile. Ctrl-C ends the wait and the process, without destroying global objects.
void close_devices();

// Splits a status's message into the message and the help at its end, which is "" if there is none.
std::pair<std::string, std::string> parted_help(const std::string& message);

// The status's message, with the help in a line of its own.
std::string in_lines(const Status& status);

// Fails with the diagnostic for the status, at the user's line, unless it is ok.
void throw_if_error(const Status& status);

}  // namespace texloom::python
