// Creates queues of the host driver.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "runtime/drivers/host/workers.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/queue.h"

namespace texloom::hal::host {

// Commands run on the thread that waits for them, with the help of the device's workers: switching
// to another thread would take longer than a small network. A thread that polls
// (Work::is_complete) runs brief commands for a moment. The caller's queue must wait for all work
// before it releases the backend. OutOfMemory if there is no memory for the scratch. The profile
// may be null; otherwise the queue adds a track to it, under the device's name.
Result<std::unique_ptr<QueueBackend>> create_queue_backend(std::shared_ptr<Workers> workers,
                                                           std::shared_ptr<Profile> profile,
                                                           std::string_view device);

}  // namespace texloom::hal::host
