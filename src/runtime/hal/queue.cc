#include "runtime/hal/queue.h"

namespace texloom::hal {

Status Queue::submit(std::shared_ptr<const CommandBuffer> commands) {
  if (commands == nullptr) return invalid_argument("submit: the command buffer is null");
  if (&commands->device_info() != device_info_.get())
    return invalid_argument("submit: the command buffer belongs to another device ({}, not {})",
                            commands->device_info().name, device_info_->name);
  if (!commands->finished()) return invalid_argument("submit: the command buffer is not finished");
  if (commands->segments().empty()) return {};
  return submit_checked(std::move(commands));
}

}  // namespace texloom::hal
