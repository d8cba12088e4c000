#include "runtime/hal/device.h"

#include <chrono>
#include <mutex>

#include "runtime/hal/creation_check.h"

namespace texloom::hal {
namespace {

// The queue keeps what submitted work uses until that is complete: memory that the caller has
// released may still be there. Work may wait for a semaphore that the caller is to signal, so this
// gives up after a while.
class QueueDrain final : public PressureListener {
 public:
  explicit QueueDrain(std::weak_ptr<Queue> queue) : queue_(std::move(queue)) {}

  bool release_unused() override {
    const std::shared_ptr<Queue> queue = queue_.lock();
    const auto complete = std::make_shared<Semaphore>();
    if (queue == nullptr || !queue->submit(Submission{.signals = {{complete, 1}}}).ok())
      return false;
    const Status status = complete->wait(1, after(std::chrono::seconds(2)));
    return status.code() != StatusCode::DeadlineExceeded;
  }

 private:
  std::weak_ptr<Queue> queue_;
};

}  // namespace

// What is idle in the workspace pool. The allocator may outlive the device, and with it the pool.
class Device::PoolTrim final : public PressureListener {
 public:
  explicit PoolTrim(WorkspacePool& pool) : pool_(&pool) {}

  bool release_unused() override {
    const std::lock_guard lock(mutex_);
    return pool_ != nullptr && pool_->trim() > 0;
  }
  void detach() {
    const std::lock_guard lock(mutex_);
    pool_ = nullptr;
  }

 private:
  std::mutex mutex_;
  WorkspacePool* pool_;  // under mutex_
};

Device::Device(const DeviceOptions& options, std::shared_ptr<const DeviceInfo> info,
               std::shared_ptr<Allocator> allocator, std::shared_ptr<Queue> queue)
    : options_(options),
      info_(std::move(info)),
      allocator_(std::move(allocator)),
      queue_(std::move(queue)),
      workspace_pool_(*this),
      trim_(std::make_shared<PoolTrim>(workspace_pool_)),
      drain_(std::make_shared<QueueDrain>(queue_)) {
  allocator_->add_listener(trim_);
  allocator_->add_listener(drain_);
}

Device::~Device() { trim_->detach(); }

bool Device::supports(TexelFormat format, TextureUsage usage) const {
  return allocator_->supports(format, usage);
}

Result<std::shared_ptr<Buffer>> Device::create_buffer(const BufferDesc& desc) {
  return allocator_->create_buffer(desc);
}

Result<std::shared_ptr<Texture>> Device::create_texture(const TextureDesc& desc) {
  return allocator_->create_texture(desc);
}

Result<std::shared_ptr<Executable>> Device::create_executable(const ExecutableDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable, create_checked(desc));
  if (desc.build == BuildTime::Creation) TL_RETURN_IF_ERROR(executable->prepare());
  return executable;
}

std::shared_ptr<CommandBuffer> Device::create_command_buffer(const CommandBufferDesc& desc) const {
  return std::make_shared<CommandBuffer>(info_, desc);
}

Result<std::shared_ptr<Queue>> Device::create_queue() {
  TL_ASSIGN_OR_RETURN(std::unique_ptr<QueueBackend> backend, create_backend());
  return Queue::create(info_, std::move(backend), options_.profile);
}

}  // namespace texloom::hal
