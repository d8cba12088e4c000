#include "runtime/drivers/opencl/driver.h"

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/commands/command_queue.h"
#include "runtime/drivers/opencl/commands/semaphore.h"
#include "runtime/drivers/opencl/commands/transfer_kernels.h"
#include "runtime/drivers/opencl/kernels/program.h"
#include "runtime/drivers/opencl/memory/map_queue.h"
#include "runtime/drivers/opencl/memory/memory.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/drivers/opencl/platform/platform.h"
#include "runtime/hal/internal/memory/api_allocator.h"

namespace texloom::hal::opencl {
namespace {

using OpenClAllocator = ApiAllocator<Context, MapQueue, OpenClBuffer, OpenClTexture>;

class OpenClDevice final : public Device {
 public:
  OpenClDevice(const DeviceOptions& options, std::shared_ptr<const Context> context,
               std::shared_ptr<TransferKernels> kernels, std::shared_ptr<Allocator> allocator,
               std::shared_ptr<Queue> queue)
      : Device(options, context->info(), std::move(allocator), std::move(queue)),
        context_(std::move(context)),
        kernels_(std::move(kernels)) {}

 private:
  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) override {
    return OpenClExecutable::create(context_, desc);
  }
  Result<std::unique_ptr<QueueBackend>> create_backend() override {
    return OpenClQueue::create(context_, kernels_);
  }
  Result<std::unique_ptr<SemaphoreBackend>> create_semaphore_backend(
      const SemaphoreDesc&) override {
    return std::unique_ptr<SemaphoreBackend>(std::make_unique<OpenClSemaphore>());
  }

  std::shared_ptr<const Context> context_;
  std::shared_ptr<TransferKernels> kernels_;  // of all its queues
};

class OpenClDriver final : public Driver {
 public:
  OpenClDriver(std::shared_ptr<const Api> api, std::vector<PlatformDevice> devices,
               const DriverOptions& options)
      : api_(std::move(api)),
        devices_(std::move(devices)),
        binary_cache_(options.binary_cache),
        scratch_bytes_(options.scratch_bytes) {
    for (const PlatformDevice& device : devices_) infos_.push_back(*device.info);
  }

  std::string_view name() const override { return "opencl"; }
  const std::vector<DeviceInfo>& devices() const override { return infos_; }

 private:
  Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                              const DeviceOptions& options) override {
    // Each open device has its own copy, whose address identifies the device's objects.
    PlatformDevice device = devices_[ordinal];
    device.info = std::make_shared<const DeviceInfo>(*device.info);
    TL_ASSIGN_OR_RETURN(
        const std::shared_ptr<const Context> context,
        Context::create(api_, device, binary_cache_, options.profile, scratch_bytes_));
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<TransferKernels> kernels,
                        TransferKernels::create(context));
    TL_ASSIGN_OR_RETURN(std::unique_ptr<QueueBackend> backend,
                        OpenClQueue::create(context, kernels));
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue,
                        Queue::create(context->info(), std::move(backend), options.profile));
    return std::shared_ptr<Device>(std::make_shared<OpenClDevice>(
        options, context, kernels, std::make_shared<OpenClAllocator>(context, options),
        std::move(queue)));
  }

  std::shared_ptr<const Api> api_;
  std::vector<PlatformDevice> devices_;
  std::vector<DeviceInfo> infos_;
  std::shared_ptr<BinaryCache> binary_cache_;
  std::uint64_t scratch_bytes_;
};

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
  return std::shared_ptr<Driver>(
      std::make_shared<OpenClDriver>(std::move(api), std::move(devices), options));
}

}  // namespace texloom::hal::opencl
