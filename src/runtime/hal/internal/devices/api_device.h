// The device and the driver of a graphics API, made of classes of its driver.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/hal/device.h"
#include "runtime/hal/driver.h"
#include "runtime/hal/internal/memory/api_allocator.h"
#include "support/status.h"

namespace texloom::hal {

// An open device. `Classes` names the driver's classes from which it is built:
//
//   Context                    the state that the objects of one open device share
//   MapQueue, Buffer, Texture  the classes that ApiAllocator needs
//   TransferKernels            kernels for copies and fills that the API lacks, for all queues
//   CommandQueue               creates itself; may use an application's queue (share)
//   Executable                 creates itself
//   Semaphore                  creates itself; may also import native semaphores
template <typename Classes>
class ApiDevice final : public Device {
 public:
  using Context = typename Classes::Context;
  using TransferKernels = typename Classes::TransferKernels;

  // `native_queue` is the application's, or null; it has been checked.
  static Result<std::shared_ptr<Device>> open(std::shared_ptr<const Context> context,
                                              const DeviceOptions& options, void* native_queue) {
    TL_ASSIGN_OR_RETURN(std::shared_ptr<TransferKernels> kernels, TransferKernels::create(context));
    TL_ASSIGN_OR_RETURN(std::unique_ptr<QueueBackend> backend,
                        native_queue == nullptr
                            ? Classes::CommandQueue::create(context, kernels)
                            : Classes::CommandQueue::share(context, kernels, native_queue));
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue,
                        Queue::create(context->info(), std::move(backend), options.profile));
    return std::shared_ptr<Device>(
        new ApiDevice(std::move(context), std::move(kernels), options, std::move(queue)));
  }

 private:
  using Allocator = ApiAllocator<Context, typename Classes::MapQueue, typename Classes::Buffer,
                                 typename Classes::Texture>;

  ApiDevice(std::shared_ptr<const Context> context, std::shared_ptr<TransferKernels> kernels,
            const DeviceOptions& options, std::shared_ptr<Queue> queue)
      : Device(options, context->info(), std::make_shared<Allocator>(context, options),
               std::move(queue)),
        context_(std::move(context)),
        kernels_(std::move(kernels)) {}

  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) override {
    return Classes::Executable::create(context_, desc);
  }
  Result<std::unique_ptr<QueueBackend>> create_backend() override {
    return Classes::CommandQueue::create(context_, kernels_);
  }
  Result<std::unique_ptr<SemaphoreBackend>> create_semaphore_backend(
      const SemaphoreDesc& desc) override {
    return Classes::Semaphore::create(*context_, desc.value);
  }
  Result<std::unique_ptr<SemaphoreBackend>> import_semaphore_backend(
      ExternalSemaphore external) override {
    if constexpr (requires { Classes::Semaphore::import(*context_, std::move(external)); }) {
      return Classes::Semaphore::import(*context_, std::move(external));
    } else {
      return Device::import_semaphore_backend(std::move(external));
    }
  }

  std::shared_ptr<const Context> context_;
  std::shared_ptr<TransferKernels> kernels_;
};

// `SystemDevice` is a device that the API lists; its `info` describes it. `check_native` checks an
// application's objects, and returns the place of their device in the list.
template <typename Classes, typename SystemDevice>
class ApiDriver final : public Driver {
 public:
  using Context = typename Classes::Context;
  using MakeContext = std::function<Result<std::shared_ptr<const Context>>(
      const SystemDevice&, const DeviceOptions&, const NativeDevice&)>;
  using CheckNative = std::function<Result<std::size_t>(std::span<const SystemDevice>,
                                                        const NativeDevice&, const DeviceOptions&)>;

  ApiDriver(std::string_view name, std::vector<SystemDevice> devices, MakeContext make_context,
            CheckNative check_native)
      : name_(name),
        devices_(std::move(devices)),
        make_context_(std::move(make_context)),
        check_native_(std::move(check_native)) {
    for (const SystemDevice& device : devices_) infos_.push_back(*device.info);
  }

  std::string_view name() const override { return name_; }
  const std::vector<DeviceInfo>& devices() const override { return infos_; }

  Result<std::shared_ptr<Device>> open_native(const NativeDevice& objects,
                                              const DeviceOptions& options) override {
    const Result<std::size_t> ordinal = check_native_(devices_, objects, options);
    if (!ordinal.ok()) return ordinal.status().with_context("open_native");
    return open_over(*ordinal, options, objects);
  }

 private:
  Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                              const DeviceOptions& options) override {
    return open_over(ordinal, options, {});
  }
  Result<std::shared_ptr<Device>> open_over(std::size_t ordinal, const DeviceOptions& options,
                                            const NativeDevice& objects) {
    // Each open device has its own copy of the info; an object belongs to the device whose info it
    // points to.
    SystemDevice device = devices_[ordinal];
    device.info = std::make_shared<const DeviceInfo>(*device.info);
    TL_ASSIGN_OR_RETURN(std::shared_ptr<const Context> context,
                        make_context_(device, options, objects));
    return ApiDevice<Classes>::open(std::move(context), options, objects.queue);
  }

  std::string_view name_;
  std::vector<SystemDevice> devices_;
  std::vector<DeviceInfo> infos_;
  MakeContext make_context_;
  CheckNative check_native_;
};

}  // namespace texloom::hal
