#pragma once

#include <memory>

#include "runtime/hal/device.h"
#include "runtime/hal/semaphore.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Blocks the device's own queue on the device: submissions are still encoded, by a thread of the
// queue, and then wait on the device. A semaphore that the host signals would block them before
// they are encoded.
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
  ExternalSemaphore event_;  // MTLSharedEvent; null while the gate is open
};

}  // namespace texloom::hal::metal
