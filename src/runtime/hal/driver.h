// A driver: the devices of one API.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/hal/device.h"
#include "runtime/hal/device_info.h"
#include "support/status.h"

namespace texloom::hal {

// An application's own objects of the driver's API, for Driver::open_native(). The device keeps the
// objects alive that it uses.
struct NativeDevice {
  // OpenCL: a cl_context, which may have several devices. Metal: null.
  void* context = nullptr;
  // OpenCL: a cl_device_id of the context; null for the queue's device, or the context's only one.
  // Metal: an id<MTLDevice>.
  void* device = nullptr;
  // OpenCL: a cl_command_queue in order. Metal: an id<MTLCommandQueue>. It becomes the device's
  // default queue (Queue has the order of commands). Null: the device creates a queue of its own.
  void* queue = nullptr;
  bool operator==(const NativeDevice&) const = default;
};

// Made by the create_driver function in each folder of runtime/drivers, or by a DriverRegistry.
// Thread safe. Devices keep alive the parts of the driver that they need.
class Driver {
 public:
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  virtual std::string_view name() const = 0;  // "opencl"

  // At least one device: GPUs first, then accelerators, then CPUs. The order is the same at each
  // call.
  virtual const std::vector<DeviceInfo>& devices() const = 0;

  // Opens a device. Each call returns a separate Device, whose objects cannot be combined with
  // objects of another Device. NotFound, naming the available devices, if none matches.
  //
  // `ordinal` is an index in devices().
  Result<std::shared_ptr<Device>> open(std::size_t ordinal, const DeviceOptions& options = {});
  // `id` is a DeviceInfo::id.
  Result<std::shared_ptr<Device>> open_by_id(std::string_view id,
                                             const DeviceOptions& options = {});
  // `device` is the part of a path after "<driver>:": an ordinal, an id, or empty for the first
  // device.
  Result<std::shared_ptr<Device>> open_by_name(std::string_view device,
                                               const DeviceOptions& options = {});

  // Opens a device over objects of the application, so that both use the same memory
  // (Allocator::wrap_buffer) and the same queue. The objects must be valid, and in OpenCL come from
  // the same loader. InvalidArgument: an object that is missing, objects that do not belong
  // together, a queue whose commands are not in order, or that does not measure commands although
  // there is a profile. NotFound: the driver does not list the device. Unimplemented: the driver
  // has no such objects.
  virtual Result<std::shared_ptr<Device>> open_native(const NativeDevice& objects,
                                                      const DeviceOptions& options = {});

 protected:
  Driver() = default;

 private:
  // The ordinal is a valid index in devices().
  virtual Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                                      const DeviceOptions& options) = 0;
};

}  // namespace texloom::hal
