#include "runtime/drivers/metal/driver.h"

#include "runtime/drivers/metal/commands/command_queue.h"
#include "runtime/drivers/metal/commands/semaphore.h"
#include "runtime/drivers/metal/commands/transfer_kernels.h"
#include "runtime/drivers/metal/kernels/program.h"
#include "runtime/drivers/metal/memory/map_queue.h"
#include "runtime/drivers/metal/memory/memory.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/drivers/metal/platform/platform.h"
#include "runtime/hal/internal/memory/api_allocator.h"

namespace texloom::hal::metal {
namespace {

using MetalAllocator = ApiAllocator<Context, MapQueue, MetalBuffer, MetalTexture>;

class MetalHalDevice final : public Device {
 public:
  MetalHalDevice(const DeviceOptions& options, std::shared_ptr<const Context> context,
                 std::shared_ptr<TransferKernels> kernels, std::shared_ptr<Allocator> allocator,
                 std::shared_ptr<Queue> queue)
      : Device(options, context->info(), std::move(allocator), std::move(queue)),
        context_(std::move(context)),
        kernels_(std::move(kernels)) {}

 private:
  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) override {
    return MetalExecutable::create(context_, desc);
  }
  Result<std::unique_ptr<QueueBackend>> create_backend() override {
    return MetalCommandQueue::create(context_, kernels_);
  }
  Result<std::unique_ptr<SemaphoreBackend>> create_semaphore_backend(
      const SemaphoreDesc& desc) override {
    return MetalSemaphore::create(*context_, desc.value);
  }
  Result<std::unique_ptr<SemaphoreBackend>> import_semaphore_backend(
      ExternalSemaphore external) override {
    return MetalSemaphore::import(*context_, std::move(external));
  }

  std::shared_ptr<const Context> context_;
  std::shared_ptr<TransferKernels> kernels_;  // of all its queues
};

class MetalDriver final : public Driver {
 public:
  MetalDriver(std::vector<SystemDevice> devices, const DriverOptions& options)
      : devices_(std::move(devices)), options_(options) {
    for (const SystemDevice& device : devices_) infos_.push_back(*device.info);
  }

  std::string_view name() const override { return "metal"; }
  const std::vector<DeviceInfo>& devices() const override { return infos_; }

 private:
  Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                              const DeviceOptions& options) override {
    const SystemDevice& system = devices_[ordinal];
    // Each open device has its own copy, whose address identifies the device's objects.
    const auto context = std::make_shared<const Context>(
        system.device, std::make_shared<const DeviceInfo>(*system.info), options_.binary_cache,
        options.profile, options_.staging_bytes, options_.heap_bytes);
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<TransferKernels> kernels,
                        TransferKernels::create(context));
    TL_ASSIGN_OR_RETURN(std::unique_ptr<QueueBackend> backend,
                        MetalCommandQueue::create(context, kernels));
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue,
                        Queue::create(context->info(), std::move(backend), options.profile));
    return std::shared_ptr<Device>(std::make_shared<MetalHalDevice>(
        options, context, kernels, std::make_shared<MetalAllocator>(context, options),
        std::move(queue)));
  }

  std::vector<SystemDevice> devices_;
  std::vector<DeviceInfo> infos_;
  DriverOptions options_;
};

}  // namespace

Result<std::shared_ptr<Driver>> create_driver(const DriverOptions& options) {
  TL_ASSIGN_OR_RETURN(std::vector<SystemDevice> devices, find_devices());
  return std::shared_ptr<Driver>(std::make_shared<MetalDriver>(std::move(devices), options));
}

}  // namespace texloom::hal::metal
