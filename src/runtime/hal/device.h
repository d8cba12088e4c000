// An open device: it makes the objects and has a queue.
#pragma once

#include <memory>

#include "runtime/hal/allocator.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/queue.h"
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

  // Makes the memory, counts it, imports the host's, makes views: allocator.h.
  const std::shared_ptr<Allocator>& allocator() const { return allocator_; }

  // The allocator's, for most callers.
  bool supports(TexelFormat format, TextureUsage usage) const;
  Result<std::shared_ptr<Buffer>> create_buffer(const BufferDesc& desc);
  Result<std::shared_ptr<Texture>> create_texture(const TextureDesc& desc);

  // Unimplemented: no code in a format of the driver. InvalidArgument: a table that the limits
  // refuse, a build option that relaxes arithmetic beyond the math mode. Then, unless it is built
  // at first use: BuildFailed with the device compiler's log; NotFound: an entry point that the
  // code does not define; InvalidArgument: a table that the compiled kernel refuses.
  Result<std::shared_ptr<Executable>> create_executable(const ExecutableDesc& desc);

  std::shared_ptr<CommandBuffer> create_command_buffer(const CommandBufferDesc& desc = {}) const;

  // The workspace of all that runs here. Lives as long as the device.
  WorkspacePool& workspace_pool() { return workspace_pool_; }

  // The queue that the device has from the start.
  const std::shared_ptr<Queue>& queue() const { return queue_; }
  // One more; what two queues run is in no order but that of semaphores.
  Result<std::shared_ptr<Queue>> create_queue();

 protected:
  Device(const DeviceOptions& options, std::shared_ptr<const DeviceInfo> info,
         std::shared_ptr<Allocator> allocator, std::shared_ptr<Queue> queue);

  // The description has passed the checks of creation_check.h.
  virtual Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) = 0;
  virtual Result<std::unique_ptr<QueueBackend>> create_backend() = 0;

 private:
  class PoolTrim;
  class QueueDrain;

  DeviceOptions options_;
  std::shared_ptr<const DeviceInfo> info_;
  std::shared_ptr<Allocator> allocator_;
  std::shared_ptr<Queue> queue_;
  WorkspacePool workspace_pool_;
  std::shared_ptr<ArenaBlocks> command_memory_ = std::make_shared<ArenaBlocks>();
  // What gives back memory when it is short: the pool, then the queues.
  std::shared_ptr<PoolTrim> trim_;
  std::shared_ptr<QueueDrain> drain_;
};

}  // namespace texloom::hal
