// An open device, which creates all other objects and has a queue.
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

// Made by Driver::open. Thread safe. Objects of different Device objects cannot be combined, even
// if both were opened from the same ordinal. Objects keep alive the parts of the device that they
// need, so handles may be released in any order.
class Device {
 public:
  virtual ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return *info_; }

  const DeviceOptions& options() const { return options_; }

  // Allocates, counts and imports memory, and creates views.
  const std::shared_ptr<Allocator>& allocator() const { return allocator_; }

  // Shorthands for the allocator's functions. create_buffer() also fills a buffer that is to be
  // zeroed, and waits for the device's queue.
  bool supports(TexelFormat format, TextureUsage usage) const;
  Result<std::shared_ptr<Buffer>> create_buffer(const BufferDesc& desc);
  Result<std::shared_ptr<Texture>> create_texture(const TextureDesc& desc);

  // Unimplemented: no code in a format that the driver supports. InvalidArgument: entry points that
  // exceed the limits, or a build option that relaxes arithmetic beyond the math mode. Unless the
  // executable is built at first use, also the errors of building: BuildFailed with the device
  // compiler's log; NotFound for an entry point that the code does not define; InvalidArgument for
  // parameters that do not match the compiled kernel.
  Result<std::shared_ptr<Executable>> create_executable(const ExecutableDesc& desc);

  std::shared_ptr<CommandBuffer> create_command_buffer(const CommandBufferDesc& desc = {}) const;

  // Creates a timeline semaphore. Queues of this device wait for it and signal it without the host
  // if the driver supports that; queues of other devices go through the host.
  Result<std::shared_ptr<Semaphore>> create_semaphore(const SemaphoreDesc& desc = {});
  // Creates a semaphore that follows and raises a native timeline of another API or process: the
  // counterpart of Semaphore::export_as. Unimplemented unless the driver supports the kind.
  Result<std::shared_ptr<Semaphore>> import_semaphore(ExternalSemaphore external);

  // The workspace memory shared by everything that runs on this device. Lives as long as the
  // device.
  WorkspacePool& workspace_pool() { return workspace_pool_; }

  // The device's default queue.
  const std::shared_ptr<Queue>& queue() const { return queue_; }
  // Creates another queue. Only semaphores order the work of different queues.
  Result<std::shared_ptr<Queue>> create_queue();

 protected:
  Device(const DeviceOptions& options, std::shared_ptr<const DeviceInfo> info,
         std::shared_ptr<Allocator> allocator, std::shared_ptr<Queue> queue);

  // The description has passed check_creation().
  virtual Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) = 0;
  virtual Result<std::unique_ptr<QueueBackend>> create_backend() = 0;
  // Implemented by drivers with native waits. By default the first function returns null and the
  // second Unimplemented; the host then waits and signals.
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
  // Release memory when the driver runs out: first the pool, then the queues.
  std::shared_ptr<PoolTrim> trim_;
  std::shared_ptr<QueueDrain> drain_;
};

}  // namespace texloom::hal
