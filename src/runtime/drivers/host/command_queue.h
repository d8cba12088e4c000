// A queue of the host driver.
#pragma once

#include <memory>
#include <span>

#include "runtime/drivers/host/workers.h"
#include "runtime/hal/queue.h"

namespace texloom::hal::host {

// Commands are run by a thread of the queue's own, with the help of the device's workers. The
// caller's queue waits for all work before it releases this. Unavailable where the process may have
// no more threads; OutOfMemory where there is no room for the scratch memory.
Result<std::unique_ptr<QueueBackend>> create_queue_backend(std::shared_ptr<Workers> workers);

}  // namespace texloom::hal::host
