// A queue of the host driver.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "runtime/drivers/host/workers.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/queue.h"

namespace texloom::hal::host {

// Commands are run by a thread of the queue's own, with the help of the device's workers. The
// caller's queue waits for all work before it releases this. Unavailable where the process may have
// no more threads; OutOfMemory where there is no room for the scratch memory.
// The profile may be null; the queue has a lane there under the device's name.
Result<std::unique_ptr<QueueBackend>> create_queue_backend(std::shared_ptr<Workers> workers,
                                                           std::shared_ptr<Profile> profile,
                                                           std::string_view device);

}  // namespace texloom::hal::host
