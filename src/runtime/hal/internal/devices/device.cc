#include "runtime/hal/device.h"

#include <chrono>
#include <mutex>

#include "runtime/hal/internal/checks/creation_check.h"
#include "runtime/hal/internal/recording/arena.h"
#include "runtime/hal/transfer.h"

namespace texloom::hal {

// Waits for queues when memory is short: a queue keeps the objects of submitted work until the work
// is complete, so memory that the caller has released may still be allocated. Gives up after a
// while, because work may wait for a semaphore that the caller has yet to signal.
class Device::QueueDrain final : public PressureListener {
 public:
  void add(const std::shared_ptr<Queue>& queue) {
    const std::lock_guard lock(mutex_);
    std::erase_if(queues_, [](const std::weak_ptr<Queue>& each) { return each.expired(); });
    queues_.push_back(queue);
  }

  bool release_unused() override {
    std::vector<TimelinePoint> complete;
    for (const std::shared_ptr<Queue>& queue : queues()) {
      const TimelinePoint point{Semaphore::create(), 1};
      if (!queue->runs_on_calling_thread() && queue->submit(Submission{.signals = {point}}).ok())
        complete.push_back(point);
    }
    if (complete.empty()) return false;
    return wait_all(complete, after(std::chrono::seconds(2))).code() !=
           StatusCode::DeadlineExceeded;
  }

 private:
  std::vector<std::shared_ptr<Queue>> queues() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Queue>> queues;
    for (const std::weak_ptr<Queue>& each : queues_) {
      if (auto queue = each.lock()) queues.push_back(std::move(queue));
    }
    return queues;
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<Queue>> queues_;  // guarded by mutex_
};

// Frees idle objects of the workspace pool. The allocator may outlive the device and its pool.
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
  WorkspacePool* pool_;  // guarded by mutex_
};

Device::Device(const DeviceOptions& options, std::shared_ptr<const DeviceInfo> info,
               std::shared_ptr<Allocator> allocator, std::shared_ptr<Queue> queue)
    : options_(options),
      info_(std::move(info)),
      allocator_(std::move(allocator)),
      queue_(std::move(queue)),
      workspace_pool_(*this),
      command_memory_(std::make_shared<ArenaBlocks>()),
      trim_(std::make_shared<PoolTrim>(workspace_pool_)),
      drain_(std::make_shared<QueueDrain>()) {
  drain_->add(queue_);
  allocator_->add_listener(trim_);
  allocator_->add_listener(drain_);
}

Device::~Device() { trim_->detach(); }

bool Device::supports(TexelFormat format, TextureUsage usage) const {
  return allocator_->supports(format, usage);
}

Result<std::shared_ptr<Buffer>> Device::create_buffer(const BufferDesc& desc) {
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, allocator_->create_buffer(desc));
  if (desc.zeroed) {
    const std::vector<std::byte> zeros(desc.bytes);
    TL_RETURN_IF_ERROR(write_buffer(*this, buffer, 0, zeros));
  }
  return buffer;
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
  return std::make_shared<CommandBuffer>(info_, command_memory_, desc);
}

Result<std::shared_ptr<Semaphore>> Device::create_semaphore(const SemaphoreDesc& desc) {
  TL_ASSIGN_OR_RETURN(std::unique_ptr<SemaphoreBackend> backend, create_semaphore_backend(desc));
  return Semaphore::create(desc, info_, std::move(backend));
}

Result<std::shared_ptr<Semaphore>> Device::import_semaphore(ExternalSemaphore external) {
  TL_ASSIGN_OR_RETURN(std::unique_ptr<SemaphoreBackend> backend,
                      import_semaphore_backend(std::move(external)));
  return Semaphore::create({}, info_, std::move(backend));
}

Result<std::unique_ptr<SemaphoreBackend>> Device::create_semaphore_backend(const SemaphoreDesc&) {
  return std::unique_ptr<SemaphoreBackend>();
}

Result<std::unique_ptr<SemaphoreBackend>> Device::import_semaphore_backend(
    ExternalSemaphore external) {
  return make_error(StatusCode::Unimplemented, "import_semaphore: {} cannot import {}", info_->name,
                    to_string(external.kind));
}

Result<std::shared_ptr<Queue>> Device::create_queue() {
  TL_ASSIGN_OR_RETURN(std::unique_ptr<QueueBackend> backend, create_backend());
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue,
                      Queue::create(info_, std::move(backend), options_.profile));
  drain_->add(queue);
  return queue;
}

}  // namespace texloom::hal
