// The queue that brings managed memory to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/platform/context.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::hal::metal {

// The commands of this queue do not wait for work of the device's queues. Created at first use.
// Each call returns when its command is complete. Thread safe.
class MapQueue {
 public:
  explicit MapQueue(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  // Updates the host's copy of the whole memory.
  Status synchronize(MetalMemory* memory);
  // Copies a range of the device's copy to host memory.
  Status read(MetalMemory* memory, std::uint64_t offset, std::uint64_t bytes, std::byte* to);

 private:
  Result<MetalQueue*> queue();
  Status run(FunctionRef<void(MetalBlit*)> encode);

  std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  Handle<MetalQueue> queue_;  // guarded by mutex_ until it is created
};

}  // namespace texloom::hal::metal
