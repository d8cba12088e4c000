#include "tests/runtime/drivers/metal/device_gate.h"

#import <Metal/Metal.h>

#include <utility>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/queue.h"

namespace texloom::hal::metal {

Status DeviceGate::close() {
  TL_ASSIGN_OR_RETURN(const auto semaphore, device_->create_semaphore());
  TL_ASSIGN_OR_RETURN(event_, semaphore->export_as(ExternalSemaphoreKind::SharedEvent));
  const auto commands = device_->create_command_buffer();
  TL_RETURN_IF_ERROR(
      commands->native({}, [event = event_.object](const NativeCommands& native) -> Status {
        [(id<MTLCommandBuffer>)native_handles(native)->leases->command_buffer()
            encodeWaitForEvent:(id<MTLSharedEvent>)event.get()
                         value:1];
        return {};
      }));
  TL_RETURN_IF_ERROR(commands->finish());
  return device_->queue()->submit({.commands = {commands}});
}

void DeviceGate::open() {
  const ExternalSemaphore event = std::exchange(event_, {});
  if (event.object != nullptr) ((id<MTLSharedEvent>)event.object.get()).signaledValue = 1;
}

}  // namespace texloom::hal::metal
