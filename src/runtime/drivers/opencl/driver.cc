#include "runtime/drivers/opencl/driver.h"

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/commands/command_queue.h"
#include "runtime/drivers/opencl/commands/semaphore.h"
#include "runtime/drivers/opencl/commands/transfer_kernels.h"
#include "runtime/drivers/opencl/kernels/program.h"
#include "runtime/drivers/opencl/memory/map_queue.h"
#include "runtime/drivers/opencl/memory/memory.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/drivers/opencl/platform/native_device.h"
#include "runtime/drivers/opencl/platform/platform.h"
#include "runtime/hal/internal/devices/api_device.h"

namespace texloom::hal::opencl {
namespace {

struct Classes {
  using Context = opencl::Context;
  using MapQueue = opencl::MapQueue;
  using Buffer = OpenClBuffer;
  using Texture = OpenClTexture;
  using TransferKernels = opencl::TransferKernels;
  using CommandQueue = OpenClQueue;
  using Executable = OpenClExecutable;
  using Semaphore = OpenClSemaphore;
};
using OpenClDriver = ApiDriver<Classes, PlatformDevice>;

}  // namespace

Result<std::shared_ptr<Driver>> create_driver(const DriverOptions& options) {
  TL_ASSIGN_OR_RETURN(std::shared_ptr<const Api> api, load_api(options.loader_paths));
  return create_driver(std::move(api), options);
}

Result<std::shared_ptr<Driver>> create_driver(std::shared_ptr<const Api> api,
                                              const DriverOptions& options) {
  TL_ASSIGN_OR_RETURN(std::vector<PlatformDevice> devices, find_devices(*api));
  for (PlatformDevice& device : devices) {
    auto info = std::make_shared<DeviceInfo>(*device.info);
    info->limits.transfer_alignment = options.transfer_alignment;
    device.info = std::move(info);
  }
  return std::shared_ptr<Driver>(std::make_shared<OpenClDriver>(
      "opencl", std::move(devices),
      [api, binary_cache = options.binary_cache, scratch_bytes = options.scratch_bytes](
          const PlatformDevice& device, const DeviceOptions& own, const NativeDevice& objects) {
        return Context::create(api, device, static_cast<cl_context>(objects.context), binary_cache,
                               own.profile, scratch_bytes);
      },
      [api](std::span<const PlatformDevice> listed, const NativeDevice& objects,
            const DeviceOptions& own) {
        return check_native_device(*api, listed, objects, own.profile != nullptr);
      }));
}

}  // namespace texloom::hal::opencl
