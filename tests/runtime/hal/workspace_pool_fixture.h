// A fixture for tests of the workspace pool: a device whose allocator counts its calls.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/drivers/null/driver.h"
#include "runtime/hal/workspace_pool.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal {

// Counts the requests to the driver and the bytes that the driver has allocated.
struct Memory {
  std::mutex mutex;
  std::uint64_t capacity = 1 << 30;
  std::uint64_t live = 0;
  int calls = 0;

  Status take(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex);
    ++calls;
    if (live + bytes > capacity) return make_error(StatusCode::OutOfMemory, "no more memory");
    live += bytes;
    return {};
  }
  void give(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex);
    live -= bytes;
  }
};

class CountedBuffer final : public Buffer {
 public:
  CountedBuffer(std::shared_ptr<const DeviceInfo> info, const BufferDesc& desc,
                std::shared_ptr<Memory> memory)
      : Buffer(std::move(info), desc), memory_(std::move(memory)) {}
  ~CountedBuffer() override { memory_->give(bytes()); }

 private:
  std::shared_ptr<Memory> memory_;
};

inline std::uint64_t bytes_of(const TextureDesc& desc) {
  return byte_size(desc.extent, desc.format);
}

class CountedTexture final : public Texture {
 public:
  CountedTexture(std::shared_ptr<const DeviceInfo> info, const TextureDesc& desc,
                 std::shared_ptr<Memory> memory)
      : Texture(std::move(info), desc), memory_(std::move(memory)) {}
  ~CountedTexture() override { memory_->give(bytes_of(desc())); }

 private:
  std::shared_ptr<Memory> memory_;
};

class InstantQueue final : public QueueBackend {
 public:
  Result<std::unique_ptr<Work>> start(const Batch&) override {
    return std::unique_ptr<Work>(std::make_unique<Done>());
  }

 private:
  class Done final : public Work {
   public:
    bool is_complete() override { return true; }
    Status wait() override { return {}; }
  };
};

class CountingAllocator final : public Allocator {
 public:
  CountingAllocator(std::shared_ptr<const DeviceInfo> info, std::shared_ptr<Memory> memory)
      : Allocator(std::move(info), {}), memory_(std::move(memory)) {}

  bool supports(TexelFormat, TextureUsage) const override { return true; }

 private:
  Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) override {
    TL_RETURN_IF_ERROR(memory_->take(desc.bytes));
    return std::shared_ptr<Buffer>(std::make_shared<CountedBuffer>(shared_info(), desc, memory_));
  }
  Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) override {
    TL_RETURN_IF_ERROR(memory_->take(bytes_of(desc)));
    return std::shared_ptr<Texture>(std::make_shared<CountedTexture>(shared_info(), desc, memory_));
  }

  std::shared_ptr<Memory> memory_;
};

inline std::shared_ptr<Queue> instant_queue(const std::shared_ptr<const DeviceInfo>& info) {
  return *Queue::create(info, std::make_unique<InstantQueue>());
}

class CountingDevice final : public Device {
 public:
  explicit CountingDevice(const std::shared_ptr<const DeviceInfo>& info)
      : CountingDevice(info, std::make_shared<Memory>()) {}

  const std::shared_ptr<Memory> memory;

 private:
  CountingDevice(const std::shared_ptr<const DeviceInfo>& info,
                 const std::shared_ptr<Memory>& counted)
      : Device({}, info, std::make_shared<CountingAllocator>(info, counted), instant_queue(info)),
        memory(counted),
        info_(info) {}

  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc&) override {
    return make_error(StatusCode::Unimplemented, "no kernels");
  }
  Result<std::unique_ptr<QueueBackend>> create_backend() override {
    return std::unique_ptr<QueueBackend>(std::make_unique<InstantQueue>());
  }

  std::shared_ptr<const DeviceInfo> info_;
};

inline TextureDesc texture(Extent2D extent, TexelFormat format = TexelFormat::Rgba32Float) {
  return {.extent = extent, .format = format};
}
inline BufferDesc buffer(std::uint64_t bytes) { return {.bytes = bytes}; }

class WorkspacePools : public ::testing::Test {
 protected:
  template <class Desc>
  auto acquire(const Desc& desc) {
    auto lease = pool_.acquire(device_->queue(), desc);
    EXPECT_TRUE(lease.ok()) << lease.status().to_string();
    return *std::move(lease);
  }
  // Acquires and releases an object; returns its address only for comparison.
  template <class Desc>
  const void* pass(const Desc& desc) {
    auto lease = acquire(desc);
    const void* object = lease.object().get();
    lease.release();
    return object;
  }
  int driver_calls() const { return device_->memory->calls; }

  // Submits work that uses the object until `gate_` is 1.
  void use_until_gate_opens(const std::shared_ptr<Texture>& object,
                            const std::shared_ptr<Queue>& queue,
                            std::vector<TimelinePoint> signals = {}) {
    const auto target = *device_->create_buffer({.bytes = bytes_of(object->desc())});
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->copy_texture_to_buffer(object, target, {.extent = object->extent()}));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(queue->submit({{{gate_, 1}}, {commands}, std::move(signals)}));
  }

  std::shared_ptr<CountingDevice> device_ =
      std::make_shared<CountingDevice>(std::make_shared<const DeviceInfo>(null::default_device()));
  std::shared_ptr<Queue> other_ = *device_->create_queue();
  std::shared_ptr<Semaphore> gate_ = Semaphore::create();
  WorkspacePool pool_{*device_};
};

}  // namespace texloom::hal
