#pragma once

#include <memory>

#include "runtime/hal/device.h"
#include "runtime/hal/semaphore.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Holds up the device's own queue on the device, so that what is submitted to it meanwhile is
// encoded, by a thread of the queue, and waits there. A semaphore that the host signals would hold
// it up before it is encoded.
class DeviceGate {
 public:
  explicit DeviceGate(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~DeviceGate() { open(); }
  DeviceGate(const DeviceGate&) = delete;
  DeviceGate& operator=(const DeviceGate&) = delete;

  Status close();
  void open();

 private:
  std::shared_ptr<Device> device_;
  ExternalSemaphore event_;  // MTLSharedEvent; without an object while it is open
};

}  // namespace texloom::hal::metal
