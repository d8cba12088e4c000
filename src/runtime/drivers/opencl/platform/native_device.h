// Checks the context and the queue that an application shares with a device.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/platform/platform.h"
#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Returns the place of the objects' device in `listed`. `measures` states that the queue must
// measure commands. Errors as for Driver::open_native().
Result<std::size_t> check_native_device(const Api& api, std::span<const PlatformDevice> listed,
                                        const NativeDevice& objects, bool measures);

}  // namespace texloom::hal::opencl
