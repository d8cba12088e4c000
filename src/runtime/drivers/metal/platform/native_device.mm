#include "runtime/drivers/metal/platform/native_device.h"

#include <algorithm>

#include "runtime/drivers/metal/api/objects.h"

namespace texloom::hal::metal {

bool is_same_device(void* a, void* b) {
  return a == b || ((id<MTLDevice>)a).registryID == ((id<MTLDevice>)b).registryID;
}

Result<std::size_t> check_native_device(std::span<const SystemDevice> listed,
                                        const NativeDevice& objects) {
  if (objects.context != nullptr)
    return invalid_argument("a context is given, but Metal has none; help: leave it null");
  if (objects.device == nullptr) return invalid_argument("the device is null");
  @autoreleasepool {
    id<MTLDevice> const device = (id<MTLDevice>)objects.device;
    if (![device respondsToSelector:@selector(registryID)])
      return invalid_argument("the device is not an id<MTLDevice>");
    if (objects.queue != nullptr) {
      id<MTLCommandQueue> const queue = (id<MTLCommandQueue>)objects.queue;
      if (![queue respondsToSelector:@selector(commandBufferWithUnretainedReferences)])
        return invalid_argument("the queue is not an id<MTLCommandQueue>");
      if (!is_same_device(queue.device, device))
        return invalid_argument("the queue belongs to another id<MTLDevice>");
    }
    const auto found = std::ranges::find_if(listed, [&](const SystemDevice& each) {
      return is_same_device(each.device.get(), device);
    });
    if (found == listed.end())
      return make_error(StatusCode::NotFound, "the driver does not list the device {}",
                        to_string(device.name));
    return static_cast<std::size_t>(found - listed.begin());
  }
}

}  // namespace texloom::hal::metal
