// Keeps the events of commands that will signal a semaphore, for the other queues of the context.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/semaphore.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// OpenCL has no timelines: a value is the event of the last command of the submission that signals
// it. An event is kept until the host knows that it is complete.
class OpenClSemaphore final : public SemaphoreBackend {
 public:
  static Result<std::unique_ptr<SemaphoreBackend>> create(const Context&, std::uint64_t) {
    return std::make_unique<OpenClSemaphore>();
  }

  // `event` completes when the value is reached; its command has been flushed.
  void add(std::uint64_t value, SharedEvent event);

  // The event that completes when the value is reached; null if no command is known to signal it.
  SharedEvent event_for(std::uint64_t value) const;

  void reached(std::uint64_t value) override;
  void failed() override;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, SharedEvent> events_;  // guarded by mutex_
};

}  // namespace texloom::hal::opencl
