#include "runtime/drivers/metal/driver.h"

#include "runtime/drivers/metal/commands/command_queue.h"
#include "runtime/drivers/metal/commands/semaphore.h"
#include "runtime/drivers/metal/commands/transfer_kernels.h"
#include "runtime/drivers/metal/kernels/program.h"
#include "runtime/drivers/metal/memory/map_queue.h"
#include "runtime/drivers/metal/memory/memory.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/drivers/metal/platform/native_device.h"
#include "runtime/drivers/metal/platform/platform.h"
#include "runtime/hal/internal/devices/api_device.h"

namespace texloom::hal::metal {
namespace {

struct Classes {
  using Context = metal::Context;
  using MapQueue = metal::MapQueue;
  using Buffer = MetalBuffer;
  using Texture = MetalTexture;
  using TransferKernels = metal::TransferKernels;
  using CommandQueue = MetalCommandQueue;
  using Executable = MetalExecutable;
  using Semaphore = MetalSemaphore;
};
using MetalDriver = ApiDriver<Classes, SystemDevice>;

}  // namespace

Result<std::shared_ptr<Driver>> create_driver(const DriverOptions& options) {
  TL_ASSIGN_OR_RETURN(std::vector<SystemDevice> devices, find_devices());
  return std::shared_ptr<Driver>(std::make_shared<MetalDriver>(
      "metal", std::move(devices),
      [options](const SystemDevice& system, const DeviceOptions& own,
                const NativeDevice&) -> Result<std::shared_ptr<const Context>> {
        return std::make_shared<const Context>(system.device, system.info, options.binary_cache,
                                               own.profile, options.staging_bytes,
                                               options.heap_bytes);
      },
      [](std::span<const SystemDevice> listed, const NativeDevice& objects, const DeviceOptions&) {
        return check_native_device(listed, objects);
      }));
}

}  // namespace texloom::hal::metal
