// An open device, which makes all objects and has a queue.
#pragma once

#include <memory>

#include "runtime/hal/allocator.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/queue.h"
#include "runtime/hal/semaphore.h"
#include "runtime/hal/texture.h"
#include "runtime/hal/workspace_pool.h"
#include "support/status.h"

namespace texloom::hal {

// Made by Driver::open. Thread safe. Objects of two Device objects do not mix, even when both were
// opened from one ordinal. Objects keep what they need of the device: handles may be released in
// any order.
class Device {
 public:
  virtual ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return *info_; }

  const DeviceOptions& options() const { return options_; }

  // Makes, counts and imports memory, and makes views.
  const std::shared_ptr<Allocator>& allocator() const { return allocator_; }

  // Shorthands for the allocator's functions.
  bool supports(TexelFormat format, TextureUsage usage) const;
  Result<std::shared_ptr<Buffer>> create_buffer(const BufferDesc& desc);
  Result<std::shared_ptr<Texture>> create_texture(const TextureDesc& desc);

  // Unimplemented: no code in a format of the driver. InvalidArgument: a table that the limits
  // refuse, a build option that relaxes arithmetic beyond the math mode. Then, unless it is built
  // at first use: BuildFailed with the device compiler's log; NotFound: an entry point that the
  // code does not define; InvalidArgument: a table that the compiled kernel refuses.
  Result<std::shared_ptr<Executable>> create_executable(const ExecutableDesc& desc);

  std::shared_ptr<CommandBuffer> create_command_buffer(const CommandBufferDesc& desc = {}) const;

  // A timeline that queues of this device wait for and signal without the host where the driver
  // can; those of other devices do so through the host.
  Result<std::shared_ptr<Semaphore>> create_semaphore(const SemaphoreDesc& desc = {});
  // One that follows a native timeline of another API or process, and raises it: the counterpart of
  // Semaphore::export_as. Unimplemented unless the driver knows the kind.
  Result<std::shared_ptr<Semaphore>> import_semaphore(ExternalSemaphore external);

  // The workspace of all that runs here. Lives as long as the device.
  WorkspacePool& workspace_pool() { return workspace_pool_; }

  // The queue that the device has from the start.
  const std::shared_ptr<Queue>& queue() const { return queue_; }
  // Another queue; only semaphores order the work of two queues.
  Result<std::shared_ptr<Queue>> create_queue();

 protected:
  Device(const DeviceOptions& options, std::shared_ptr<const DeviceInfo> info,
         std::shared_ptr<Allocator> allocator, std::shared_ptr<Queue> queue);

  // The description has passed check_creation().
  virtual Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) = 0;
  virtual Result<std::unique_ptr<QueueBackend>> create_backend() = 0;
  // For drivers with native waits. By default the host waits and signals: null, Unimplemented.
  virtual Result<std::unique_ptr<SemaphoreBackend>> create_semaphore_backend(
      const SemaphoreDesc& desc);
  virtual Result<std::unique_ptr<SemaphoreBackend>> import_semaphore_backend(
      ExternalSemaphore external);

 private:
  class PoolTrim;
  class QueueDrain;

  DeviceOptions options_;
  std::shared_ptr<const DeviceInfo> info_;
  std::shared_ptr<Allocator> allocator_;
  std::shared_ptr<Queue> queue_;
  WorkspacePool workspace_pool_;
  std::shared_ptr<ArenaBlocks> command_memory_;
  // Release memory when the driver has no more: first the pool, then the queues.
  std::shared_ptr<PoolTrim> trim_;
  std::shared_ptr<QueueDrain> drain_;
};

}  // namespace texloom::hal
