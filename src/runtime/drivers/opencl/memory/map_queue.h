// The queue through which the host accesses buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Commands of this queue wait for one another, but not for work of the device's queues. Created at
// first use. Each call returns when its command is complete. Thread safe.
class MapQueue {
 public:
  explicit MapQueue(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  Result<std::byte*> map(cl_mem memory, std::uint64_t offset, std::uint64_t bytes, Access access);
  Status unmap(cl_mem memory, std::byte* mapped);
  Status read(cl_mem memory, std::uint64_t offset, std::uint64_t bytes, std::byte* to);
  Status write(cl_mem memory, std::uint64_t offset, std::uint64_t bytes, const std::byte* from);

 private:
  Result<cl_command_queue> queue();
  Status complete(cl_command_queue queue, cl_int code, cl_event event, std::string_view call);

  std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  QueueHandle queue_;  // guarded by mutex_ until it is created
};

}  // namespace texloom::hal::opencl
