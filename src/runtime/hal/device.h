// An open device: it makes the objects and has a queue.
#pragma once

#include <memory>

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

  // Whether a texture of this format can be made for these uses.
  virtual bool supports(TexelFormat format, TextureUsage usage) const = 0;

  // InvalidArgument: sizes that are zero or over the limits. Unimplemented: a format, or images at
  // all, that the device does not have. OutOfMemory: the driver's word, also when nothing is idle
  // in the workspace pool and all submitted work is complete; then they have waited for it.
  Result<std::shared_ptr<Buffer>> create_buffer(const BufferDesc& desc);
  Result<std::shared_ptr<Texture>> create_texture(const TextureDesc& desc);

  // Unimplemented: no code in a format of the driver. InvalidArgument: a table that the limits
  // refuse, a build option that relaxes arithmetic beyond the math mode. Then, unless it is built
  // at first use: BuildFailed with the device compiler's log; NotFound: an entry point that the
  // code does not define; InvalidArgument: a table that the compiled kernel refuses.
  Result<std::shared_ptr<Executable>> create_executable(const ExecutableDesc& desc);

  std::shared_ptr<CommandBuffer> create_command_buffer() const;

  // The workspace of all that runs here. Lives as long as the device.
  WorkspacePool& workspace_pool() { return workspace_pool_; }

  // The device's one queue.
  virtual std::shared_ptr<Queue> queue() const = 0;

 protected:
  explicit Device(std::shared_ptr<const DeviceInfo> info);

  // The description has passed the checks of creation_check.h.
  virtual Result<std::shared_ptr<Buffer>> create_checked(const BufferDesc& desc) = 0;
  virtual Result<std::shared_ptr<Texture>> create_checked(const TextureDesc& desc) = 0;
  virtual Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc& desc) = 0;

 private:
  template <class Desc>
  auto create_memory(const Desc& desc) -> decltype(create_checked(desc));

  std::shared_ptr<const DeviceInfo> info_;
  WorkspacePool workspace_pool_;
};

}  // namespace texloom::hal
