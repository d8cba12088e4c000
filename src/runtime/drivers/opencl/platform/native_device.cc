#include "runtime/drivers/opencl/platform/native_device.h"

#include <algorithm>
#include <vector>

#include "runtime/drivers/opencl/api/error.h"

namespace texloom::hal::opencl {
namespace {

Result<std::vector<cl_device_id>> devices_of(const Api& api, cl_context context) {
  std::size_t bytes = 0;
  const cl_int code = api.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  if (code == CL_INVALID_CONTEXT)
    return invalid_argument(
        "the context is not a valid cl_context of the loader that Texloom uses");
  TL_RETURN_IF_ERROR(to_status(code, "clGetContextInfo"));
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  TL_RETURN_IF_ERROR(
      to_status(api.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr),
                "clGetContextInfo"));
  return devices;
}

template <typename T>
Result<T> queue_info(const Api& api, cl_command_queue queue, cl_command_queue_info name) {
  T value = {};
  const cl_int code = api.clGetCommandQueueInfo(queue, name, sizeof value, &value, nullptr);
  if (code == CL_INVALID_COMMAND_QUEUE)
    return invalid_argument(
        "the queue is not a valid cl_command_queue of the loader that Texloom uses");
  TL_RETURN_IF_ERROR(to_status(code, "clGetCommandQueueInfo"));
  return value;
}

// Returns the queue's device.
Result<cl_device_id> check_queue(const Api& api, cl_command_queue queue, cl_context context,
                                 bool measures) {
  TL_ASSIGN_OR_RETURN(const auto own, queue_info<cl_context>(api, queue, CL_QUEUE_CONTEXT));
  if (own != context) return invalid_argument("the queue belongs to another cl_context");
  TL_ASSIGN_OR_RETURN(const auto properties,
                      queue_info<cl_command_queue_properties>(api, queue, CL_QUEUE_PROPERTIES));
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
    return invalid_argument(
        "the queue is out of order; help: give one that is in order, or none: the device then has "
        "a queue of its own in the context");
  if (measures && (properties & CL_QUEUE_PROFILING_ENABLE) == 0)
    return invalid_argument(
        "the queue does not measure commands, which the profile needs; help: create it with "
        "CL_QUEUE_PROFILING_ENABLE");
  return queue_info<cl_device_id>(api, queue, CL_QUEUE_DEVICE);
}

}  // namespace

Result<std::size_t> check_native_device(const Api& api, std::span<const PlatformDevice> listed,
                                        const NativeDevice& objects, bool measures) {
  if (objects.context == nullptr) return invalid_argument("the context is null");
  const auto context = static_cast<cl_context>(objects.context);
  TL_ASSIGN_OR_RETURN(const std::vector<cl_device_id> devices, devices_of(api, context));
  auto device = static_cast<cl_device_id>(objects.device);
  if (objects.queue != nullptr) {
    const auto queue = static_cast<cl_command_queue>(objects.queue);
    TL_ASSIGN_OR_RETURN(const cl_device_id own, check_queue(api, queue, context, measures));
    if (device != nullptr && device != own)
      return invalid_argument("the queue belongs to another cl_device_id");
    device = own;
  } else if (device == nullptr) {
    if (devices.size() != 1)
      return invalid_argument(
          "the context has {} devices, so one must be chosen; help: give the device or a queue",
          devices.size());
    device = devices.front();
  }
  if (std::ranges::find(devices, device) == devices.end())
    return invalid_argument("the device is not one of the {} of the context", devices.size());
  const auto found = std::ranges::find(listed, device, &PlatformDevice::device);
  if (found == listed.end())
    return make_error(StatusCode::NotFound,
                      "the context's device is not one that the driver lists; parts of devices "
                      "(clCreateSubDevices) are not supported");
  return static_cast<std::size_t>(found - listed.begin());
}

}  // namespace texloom::hal::opencl
