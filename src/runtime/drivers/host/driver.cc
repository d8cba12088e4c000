#include "runtime/drivers/host/driver.h"

#include <algorithm>
#include <utility>

#include "runtime/drivers/host/command_queue.h"
#include "runtime/drivers/host/executable.h"
#include "runtime/drivers/host/memory.h"
#include "runtime/drivers/host/processor.h"
#include "runtime/drivers/host/workers.h"
#include "support/processor/processor.h"

namespace texloom::hal::host {

namespace {

class HostDevice final : public Device {
 public:
  HostDevice(const DeviceOptions& options, const std::shared_ptr<const DeviceInfo>& info,
             std::vector<std::shared_ptr<const KernelLoader>> loaders,
             std::shared_ptr<Workers> workers, std::shared_ptr<Queue> queue)
      : Device(options, info, std::make_shared<HostAllocator>(info, options), std::move(queue)),
        info_(info),
        loaders_(std::move(loaders)),
        workers_(std::move(workers)) {}

 private:
  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) override {
    TL_ASSIGN_OR_RETURN(const KernelCode* code, select_code(desc, *info_));
    const auto loader =
        std::ranges::find(loaders_, code->format, [](const auto& each) { return each->format(); });
    return std::shared_ptr<Executable>(
        std::make_shared<HostExecutable>(info_, *loader, code->code, desc.entry_points));
  }
  Result<std::unique_ptr<QueueBackend>> create_backend() override {
    return create_queue_backend(workers_, options().profile, info_->name);
  }

  std::shared_ptr<const DeviceInfo> info_;
  std::vector<std::shared_ptr<const KernelLoader>> loaders_;
  std::shared_ptr<Workers> workers_;
};

// The limits follow from the integer types of the kernel interface and from its guarantees to
// kernels. The device's memory is the machine's.
DeviceInfo describe(const Processor& processor, unsigned threads) {
  DeviceInfo info;
  info.driver = "host";
  info.id = "host";
  info.name = processor.name;
  info.vendor = processor.vendor;
  info.platform = "Texloom host";
  info.type = DeviceType::Cpu;
  info.extensions.emplace_back(processor_architecture());
  for (const std::string_view feature : processor_features()) info.extensions.emplace_back(feature);
  info.features = {.images = true,
                   .float16_arithmetic = true,
                   .float64 = true,
                   .texture_views = true,
                   .disjoint_views = true,
                   .host_import = true,
                   .in_order_commands = false,
                   .indirect_dispatch = true,
                   .native_commands = true};
  info.limits = {.max_image_width = 16384,
                 .max_image_height = 16384,
                 .max_read_images = 128,
                 .max_write_images = 64,
                 .max_workgroup_size = 1024,
                 .max_workitem_sizes = {1024, 1024, 1024},
                 .local_memory_bytes = kScratchBytes,
                 .max_allocation_bytes = processor.memory_bytes,
                 .max_argument_bytes = 4096,
                 .buffer_offset_alignment = kBufferAlignment,
                 .transfer_alignment = 1,
                 .global_memory_bytes = processor.memory_bytes,
                 .compute_units = threads,
                 .import_address_alignment = kBufferAlignment};
  info.memory_kinds.fill(
      {.available = true, .mappable = true, .persistent = true, .coherent = true});
  return info;
}

class HostDriver final : public Driver {
 public:
  HostDriver(DeviceInfo device, unsigned threads,
             std::vector<std::shared_ptr<const KernelLoader>> loaders)
      : threads_(threads), loaders_(std::move(loaders)) {
    for (const auto& loader : loaders_) device.formats.push_back(loader->format());
    devices_.push_back(std::move(device));
  }

  std::string_view name() const override { return "host"; }
  const std::vector<DeviceInfo>& devices() const override { return devices_; }

 private:
  Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                              const DeviceOptions& options) override {
    // Each open device has its own copy, whose address identifies the device's objects.
    const auto info = std::make_shared<const DeviceInfo>(devices_[ordinal]);
    // The thread that waits for the queue is one of `threads_`, so there is one worker less.
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Workers> workers, Workers::create(threads_ - 1));
    TL_ASSIGN_OR_RETURN(std::unique_ptr<QueueBackend> backend,
                        create_queue_backend(workers, options.profile, info->name));
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue,
                        Queue::create(info, std::move(backend), options.profile));
    return std::shared_ptr<Device>(std::make_shared<HostDevice>(
        options, info, loaders_, std::move(workers), std::move(queue)));
  }

  std::vector<DeviceInfo> devices_;
  unsigned threads_;  // at least 1
  std::vector<std::shared_ptr<const KernelLoader>> loaders_;
};

}  // namespace

std::shared_ptr<Driver> create_driver(DriverOptions options) {
  Processor processor = find_processor();
  if (options.memory_bytes != 0) processor.memory_bytes = options.memory_bytes;
  const unsigned threads = options.threads == 0 ? processor.threads : options.threads;
  std::vector<std::shared_ptr<const KernelLoader>> loaders = std::move(options.loaders);
  loaders.insert(loaders.begin(),
                 make_function_loader(std::move(options.libraries), std::move(options.linked)));
  return std::make_shared<HostDriver>(describe(processor, threads), threads, std::move(loaders));
}

}  // namespace texloom::hal::host
