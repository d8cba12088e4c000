#include "runtime/drivers/null/driver.h"

#include <utility>

namespace texloom::hal::null {

namespace {

class NullBuffer final : public Buffer {
 public:
  NullBuffer(std::shared_ptr<const DeviceInfo> info, const BufferDesc& desc)
      : Buffer(std::move(info), desc) {}
};

class NullTexture final : public Texture {
 public:
  NullTexture(std::shared_ptr<const DeviceInfo> info, const TextureDesc& desc)
      : Texture(std::move(info), desc) {}
};

class NullExecutable final : public Executable {
 public:
  NullExecutable(std::shared_ptr<const DeviceInfo> info, const ExecutableDesc& desc)
      : Executable(std::move(info), desc.entry_points) {}

 private:
  Status build() override { return {}; }
};

// All is complete when it is started.
class NullQueue final : public QueueBackend {
 public:
  Result<std::unique_ptr<Work>> start(
      std::span<const std::shared_ptr<const CommandBuffer>>) override {
    return std::unique_ptr<Work>(std::make_unique<NullWork>());
  }

 private:
  class NullWork final : public Work {
   public:
    bool is_complete() override { return true; }
    Status wait() override { return {}; }
  };
};

class NullDevice final : public Device {
 public:
  NullDevice(std::shared_ptr<const DeviceInfo> info, std::shared_ptr<Queue> queue)
      : Device(info), info_(std::move(info)), queue_(std::move(queue)) {}

  bool supports(TexelFormat, TextureUsage) const override { return info_->features.images; }
  std::shared_ptr<Queue> queue() const override { return queue_; }

 private:
  Result<std::shared_ptr<Buffer>> create_checked(const BufferDesc& desc) override {
    return std::shared_ptr<Buffer>(std::make_shared<NullBuffer>(info_, desc));
  }
  Result<std::shared_ptr<Texture>> create_checked(const TextureDesc& desc) override {
    return std::shared_ptr<Texture>(std::make_shared<NullTexture>(info_, desc));
  }
  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) override {
    return std::shared_ptr<Executable>(std::make_shared<NullExecutable>(info_, desc));
  }

  std::shared_ptr<const DeviceInfo> info_;
  std::shared_ptr<Queue> queue_;
};

class NullDriver final : public Driver {
 public:
  explicit NullDriver(DeviceInfo device) : devices_{std::move(device)} {}

  std::string_view name() const override { return "null"; }
  const std::vector<DeviceInfo>& devices() const override { return devices_; }

  Result<std::shared_ptr<Device>> open(std::size_t ordinal) override {
    if (ordinal >= devices_.size()) {
      return make_error(StatusCode::NotFound, "no null device {}: there is 1", ordinal);
    }
    // A description of its own, since its address tells the objects of two devices apart.
    auto info = std::make_shared<const DeviceInfo>(devices_[ordinal]);
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue,
                        Queue::create(info, std::make_unique<NullQueue>()));
    return std::shared_ptr<Device>(std::make_shared<NullDevice>(std::move(info), std::move(queue)));
  }

 private:
  std::vector<DeviceInfo> devices_;
};

}  // namespace

DeviceInfo default_device() {
  DeviceInfo info;
  info.name = "null";
  info.vendor = "Texloom";
  info.platform = "Texloom null";
  info.features = {.images = true, .float16_arithmetic = true, .float64 = true};
  info.limits = {.max_image_width = 1024,
                 .max_image_height = 512,
                 .max_read_images = 8,
                 .max_write_images = 4,
                 .max_workgroup_size = 256,
                 .max_workitem_sizes = {256, 256, 64},
                 .local_memory_bytes = 1 << 15,
                 .max_allocation_bytes = 1 << 24,
                 .max_argument_bytes = 1024,
                 .buffer_offset_alignment = 16,
                 .global_memory_bytes = 1 << 26,
                 .compute_units = 1};
  return info;
}

std::shared_ptr<Driver> create_driver(DeviceInfo device) {
  return std::make_shared<NullDriver>(std::move(device));
}

}  // namespace texloom::hal::null
