// Checks the device and the queue that an application shares with a device of this driver.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/drivers/metal/platform/platform.h"
#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Returns the place of the objects' device in `listed`. Errors as for Driver::open_native().
Result<std::size_t> check_native_device(std::span<const SystemDevice> listed,
                                        const NativeDevice& objects);

// Whether two objects stand for the same device of the system.
bool is_same_device(void* a, void* b);

}  // namespace texloom::hal::metal
