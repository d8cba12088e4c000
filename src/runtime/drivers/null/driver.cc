#include "runtime/drivers/null/driver.h"

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "support/byte_text.h"

namespace texloom::hal::null {

namespace {

struct SharedStatistics {
  std::mutex mutex;
  Statistics statistics;

  void add(const Statistics& more) {
    const std::scoped_lock lock(mutex);
    statistics += more;
  }
  void add_resident(int objects) {
    const std::scoped_lock lock(mutex);
    statistics.resident += objects;
  }
};

// Only memory that can be mapped is allocated.
class NullBuffer final : public Buffer {
 public:
  NullBuffer(std::shared_ptr<const DeviceInfo> info, const BufferDesc& desc,
             std::shared_ptr<SharedStatistics> statistics, std::unique_ptr<std::byte[]> owned,
             std::byte* memory)
      : Buffer(std::move(info), desc),
        statistics_(std::move(statistics)),
        owned_(std::move(owned)),
        memory_(memory) {}

 private:
  Result<std::byte*> map_memory(std::uint64_t offset, std::uint64_t, Access) override {
    return memory_ + offset;
  }
  Status bring_in() override {
    statistics_->add_resident(1);
    return {};
  }
  void let_go() override { statistics_->add_resident(-1); }

  std::shared_ptr<SharedStatistics> statistics_;
  std::unique_ptr<std::byte[]> owned_;  // null if imported or not allocated
  std::byte* memory_;
};

class NullTexture final : public Texture {
 public:
  NullTexture(std::shared_ptr<const DeviceInfo> info, const TextureDesc& desc,
              std::shared_ptr<SharedStatistics> statistics)
      : Texture(std::move(info), desc), statistics_(std::move(statistics)) {}

 private:
  Status bring_in() override {
    statistics_->add_resident(1);
    return {};
  }
  void let_go() override { statistics_->add_resident(-1); }

  std::shared_ptr<SharedStatistics> statistics_;
};

class NullAllocator final : public Allocator {
 public:
  NullAllocator(std::shared_ptr<const DeviceInfo> info, const DeviceOptions& options,
                std::shared_ptr<SharedStatistics> statistics)
      : Allocator(std::move(info), options), statistics_(std::move(statistics)) {}

  bool supports(TexelFormat, TextureUsage) const override { return info().features.images; }

 private:
  Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) override {
    std::unique_ptr<std::byte[]> memory;
    if (info().memory(desc.memory).mappable) {
      memory.reset(new (std::nothrow) std::byte[desc.bytes]);
      if (memory == nullptr)
        return make_error(StatusCode::OutOfMemory, "no host memory for {}", byte_text(desc.bytes));
    }
    std::byte* first = memory.get();
    return std::shared_ptr<Buffer>(
        std::make_shared<NullBuffer>(shared_info(), desc, statistics_, std::move(memory), first));
  }
  Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) override {
    return std::shared_ptr<Texture>(
        std::make_shared<NullTexture>(shared_info(), desc, statistics_));
  }
  Result<std::shared_ptr<Buffer>> wrap(std::span<std::byte> memory,
                                       const BufferDesc& desc) override {
    return std::shared_ptr<Buffer>(
        std::make_shared<NullBuffer>(shared_info(), desc, statistics_, nullptr, memory.data()));
  }
  Result<std::shared_ptr<Texture>> view(const TextureBacking&, const TextureDesc& desc) override {
    return std::shared_ptr<Texture>(
        std::make_shared<NullTexture>(shared_info(), desc, statistics_));
  }

  std::shared_ptr<SharedStatistics> statistics_;
};

class NullExecutable final : public Executable {
 public:
  NullExecutable(std::shared_ptr<const DeviceInfo> info, const ExecutableDesc& desc,
                 std::shared_ptr<SharedStatistics> statistics)
      : Executable(std::move(info), desc.entry_points), statistics_(std::move(statistics)) {}

 private:
  Status build() override { return {}; }
  Status bring_in() override {
    TL_RETURN_IF_ERROR(prepare());
    statistics_->add_resident(1);
    return {};
  }
  void let_go() override { statistics_->add_resident(-1); }

  std::shared_ptr<SharedStatistics> statistics_;
};

// Stands for a native timeline: the highest value that work of the device signals.
class NullSemaphore final : public SemaphoreBackend {
 public:
  void start(std::uint64_t value) {
    std::uint64_t known = started_;
    while (known < value && !started_.compare_exchange_weak(known, value)) {
    }
  }
  bool is_started(std::uint64_t value) const { return value <= started_; }

 private:
  std::atomic<std::uint64_t> started_ = 0;
};

// Work is complete as soon as it is started.
class NullQueue final : public QueueBackend {
 public:
  NullQueue(std::shared_ptr<SharedStatistics> shared, std::shared_ptr<Profile> profile,
            const DeviceInfo* info)
      : shared_(std::move(shared)),
        profile_(std::move(profile)),
        info_(info),
        track_(profile_ == nullptr ? 0 : profile_->add_device_track(info->name)) {}

  Result<std::unique_ptr<Work>> start(const Batch& batch) override {
    Statistics own = walk(batch.ranges);
    own.native_waits = batch.waits.size();
    shared_->add(own);
    for (const TimelinePoint& point : batch.signals) {
      if (auto* native = as_null(point)) native->start(point.value);
    }
    if (profile_ != nullptr) add_spans(batch.ranges);
    return std::unique_ptr<Work>(std::make_unique<NullWork>());
  }

  bool can_wait(const TimelinePoint& point) const override {
    const auto* native = as_null(point);
    return native != nullptr && native->is_started(point.value);
  }

  std::unique_ptr<Scope> enter() override {
    Statistics own;
    own.scopes = 1;
    shared_->add(own);
    return nullptr;
  }

 private:
  // Null for a semaphore of another device.
  NullSemaphore* as_null(const TimelinePoint& point) const {
    const Semaphore& semaphore = *point.semaphore;
    return semaphore.device_info() == info_ ? static_cast<NullSemaphore*>(semaphore.backend())
                                            : nullptr;
  }

  // Adds spans of zero length.
  void add_spans(std::span<const CommandRange> commands) {
    const ProfileClock::time_point now = ProfileClock::now();
    for (const CommandRange& each : commands) {
      for (const Segment& segment : each) {
        if (std::holds_alternative<BarrierSegment>(segment)) continue;
        profile_->add({.name = label_of(segment),
                       .track = track_,
                       .begin = now,
                       .end = now,
                       .bytes = bytes_of(segment, each.table())});
      }
    }
  }

  class NullWork final : public Work {
   public:
    bool is_complete() override { return true; }
    Status wait() override { return {}; }
  };

  std::shared_ptr<SharedStatistics> shared_;
  std::shared_ptr<Profile> profile_;  // may be null
  const DeviceInfo* info_;            // the device's
  std::uint32_t track_;
};

class NullDevice final : public Device {
 public:
  NullDevice(const DeviceOptions& options, const std::shared_ptr<const DeviceInfo>& info,
             std::shared_ptr<Queue> queue, std::shared_ptr<SharedStatistics> statistics,
             bool waits_natively)
      : Device(options, info, std::make_shared<NullAllocator>(info, options, statistics),
               std::move(queue)),
        info_(info),
        statistics_(std::move(statistics)),
        waits_natively_(waits_natively) {}

  Statistics statistics() const {
    const std::scoped_lock lock(statistics_->mutex);
    return statistics_->statistics;
  }

 private:
  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) override {
    return std::shared_ptr<Executable>(std::make_shared<NullExecutable>(info_, desc, statistics_));
  }
  Result<std::unique_ptr<QueueBackend>> create_backend() override {
    return std::unique_ptr<QueueBackend>(
        std::make_unique<NullQueue>(statistics_, options().profile, info_.get()));
  }
  Result<std::unique_ptr<SemaphoreBackend>> create_semaphore_backend(
      const SemaphoreDesc&) override {
    std::unique_ptr<SemaphoreBackend> backend;
    if (waits_natively_) backend = std::make_unique<NullSemaphore>();
    return backend;
  }

  std::shared_ptr<const DeviceInfo> info_;
  std::shared_ptr<SharedStatistics> statistics_;
  bool waits_natively_;
};

class NullDriver final : public Driver {
 public:
  NullDriver(DeviceInfo device, const DriverOptions& options)
      : devices_{std::move(device)}, options_(options) {}

  std::string_view name() const override { return "null"; }
  const std::vector<DeviceInfo>& devices() const override { return devices_; }

 private:
  Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                              const DeviceOptions& options) override {
    // Each open device has its own copy, whose address identifies the device's objects.
    const auto info = std::make_shared<const DeviceInfo>(devices_[ordinal]);
    const auto statistics = std::make_shared<SharedStatistics>();
    TL_ASSIGN_OR_RETURN(
        std::shared_ptr<Queue> queue,
        Queue::create(info, std::make_unique<NullQueue>(statistics, options.profile, info.get()),
                      options.profile));
    return std::shared_ptr<Device>(std::make_shared<NullDevice>(options, info, std::move(queue),
                                                                statistics, options_.native_waits));
  }

  std::vector<DeviceInfo> devices_;
  DriverOptions options_;
};

}  // namespace

DeviceInfo default_device() {
  DeviceInfo info;
  info.driver = "null";
  for (const KernelFormatTraits& each : kernel_formats()) info.formats.push_back(each.format);
  info.id = "null";
  info.name = "null";
  info.vendor = "Texloom";
  info.platform = "Texloom null";
  info.features = {.images = true,
                   .float16_arithmetic = true,
                   .float64 = true,
                   .texture_views = true,
                   .disjoint_views = true,
                   .host_import = true,
                   .in_order_commands = false,
                   .indirect_dispatch = true,
                   .native_commands = true};
  info.limits = {.max_image_width = 1024,
                 .max_image_height = 512,
                 .max_read_images = 8,
                 .max_write_images = 4,
                 .max_buffers = 31,
                 .max_workgroup_size = 256,
                 .max_workitem_sizes = {256, 256, 64},
                 .max_groups = {65535, 65535, 65535},
                 .local_memory_bytes = 1 << 15,
                 .max_allocation_bytes = 1 << 24,
                 .max_argument_bytes = 8192,
                 .max_constant_bytes = 4096,
                 .buffer_offset_alignment = 16,
                 .transfer_alignment = 1,
                 .global_memory_bytes = 1 << 26,
                 .compute_units = 1,
                 .view_pitch_alignment = 4,
                 .view_base_alignment = 4,
                 .import_address_alignment = 16,
                 .import_size_alignment = 1};
  const MemoryKindInfo mapped{
      .available = true, .mappable = true, .persistent = true, .coherent = true};
  info.memory_kinds = {MemoryKindInfo{.available = true}, mapped, mapped};
  return info;
}

Statistics statistics(const Device& device) {
  return static_cast<const NullDevice&>(device).statistics();
}

std::shared_ptr<Driver> create_driver(DeviceInfo device, const DriverOptions& options) {
  return std::make_shared<NullDriver>(std::move(device), options);
}

}  // namespace texloom::hal::null
