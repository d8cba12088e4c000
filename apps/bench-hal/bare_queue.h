// The peer: OpenCL's own calls, and nothing between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/platform.h"
#include "support/status.h"

namespace texloom::bench_hal {

// A kernel that does nothing, with arguments of three kinds.
inline constexpr const char* kEmptyKernel =
    "kernel void nothing(global const float* a, global float* b, int n) {}";
inline constexpr std::size_t kEmptyKernelBytes = 4096;  // of each of its buffers
inline constexpr std::size_t kEmptyKernelItems = 64;    // one work group

// An in-order queue with the empty kernel. For one thread.
class BareQueue {
 public:
  static Result<std::unique_ptr<BareQueue>> create(
      const std::shared_ptr<const hal::opencl::Api>& api,
      const hal::opencl::PlatformDevice& device);

  // Sets the arguments and enqueues, so many times; then clFinish.
  Status run(int dispatches);

  // The same by cl_khr_command_buffer: recorded once, enqueued at each call.
  class Recorded {
   public:
    virtual ~Recorded() = default;
    virtual Status run() = 0;
  };
  // Unimplemented where the device does not have the extension. `loader_paths`: as in
  // opencl::DriverOptions. The queue outlives its recordings.
  Result<std::unique_ptr<Recorded>> record(int dispatches,
                                           const std::vector<std::string>& loader_paths);

 private:
  BareQueue() = default;
  Status make(const std::shared_ptr<const hal::opencl::Api>& api,
              const hal::opencl::PlatformDevice& device);
  Status set_arguments(int n);

  std::shared_ptr<const hal::opencl::Api> api_;
  hal::opencl::PlatformDevice device_;
  hal::opencl::ContextHandle context_;
  hal::opencl::QueueHandle queue_;
  hal::opencl::MemoryHandle a_, b_;
  hal::opencl::ProgramHandle program_;
  hal::opencl::KernelHandle kernel_;
};

}  // namespace texloom::bench_hal
