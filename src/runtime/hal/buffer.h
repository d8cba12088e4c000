// A linear piece of device memory.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/hal/device_info.h"
#include "runtime/hal/types.h"

namespace texloom::hal {

struct BufferDesc {
  std::uint64_t bytes = 0;
  BufferUsage usage = BufferUsage::All;
  bool operator==(const BufferDesc&) const = default;
};

// Made by Device::create_buffer; its contents are undefined at first. Immutable as an object (its
// memory is written by queues), so handles may be shared between threads. It keeps what it needs
// of its device, may outlive the Device handle, and may be released while the device still uses it.
class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const BufferDesc& desc() const { return desc_; }
  std::uint64_t bytes() const { return desc_.bytes; }
  // The device it belongs to; two objects belong together when this is one and the same object.
  const DeviceInfo& device_info() const { return *device_info_; }

 protected:
  Buffer(std::shared_ptr<const DeviceInfo> device_info, const BufferDesc& desc)
      : device_info_(std::move(device_info)), desc_(desc) {}

 private:
  std::shared_ptr<const DeviceInfo> device_info_;
  BufferDesc desc_;
};

}  // namespace texloom::hal
