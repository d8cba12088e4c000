// An in-order queue of a device.
#pragma once

#include <memory>

#include "runtime/hal/command_buffer.h"
#include "support/status.h"

namespace texloom::hal {

// Made by Device::queue. Submissions run in order, each after the one before it is complete, and
// asynchronously. Thread safe. It keeps what it needs of its device. The last handle's release
// waits for the work at hand, since readbacks write memory of the caller.
class Queue {
 public:
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Hands a finished command buffer to the device, without waiting for it; keeps it until it has
  // run. InvalidArgument: null, not finished, of another device. An error of the driver leaves
  // the commands before the failing one submitted, and waits for them.
  Status submit(std::shared_ptr<const CommandBuffer> commands);

  // Waits for everything submitted before the call. Returns the first error of work that was run
  // since the last call, once: the queue can be used again.
  virtual Status wait_idle() = 0;

  // Whether everything submitted is complete; does not wait. For callers that have something else
  // to listen to meanwhile; the errors are still wait_idle's to tell.
  virtual bool is_idle() = 0;

 protected:
  explicit Queue(std::shared_ptr<const DeviceInfo> device_info)
      : device_info_(std::move(device_info)) {}

  // `commands` is finished and belongs to this device.
  virtual Status submit_checked(std::shared_ptr<const CommandBuffer> commands) = 0;

 private:
  std::shared_ptr<const DeviceInfo> device_info_;
};

}  // namespace texloom::hal
