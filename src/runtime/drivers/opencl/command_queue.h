// The in-order queue of an OpenCL device.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "runtime/hal/queue.h"
#include "support/status.h"

namespace texloom::hal::opencl {

class OpenClQueue final : public Queue {
 public:
  static Result<std::shared_ptr<Queue>> create(std::shared_ptr<const Context> context);
  ~OpenClQueue() override;

  Status wait_idle() override;
  bool is_idle() override;

 private:
  // A submission that the device may still be working at.
  struct Submission {
    EventHandle done;
    std::shared_ptr<const CommandBuffer> commands;
  };

  OpenClQueue(std::shared_ptr<const Context> context, QueueHandle queue);
  Status submit_checked(std::shared_ptr<const CommandBuffer> commands) override;
  Status encode_and_flush(const CommandBuffer& commands, EventHandle& done);
  // Forgets the submissions that are complete, and keeps the first error among them.
  void retire_completed();

  std::shared_ptr<const Context> context_;
  QueueHandle queue_;
  std::mutex mutex_;  // of what follows, and of encoding, so that submissions do not interleave
  std::deque<Submission> in_flight_;
  Status first_error_;
};

}  // namespace texloom::hal::opencl
