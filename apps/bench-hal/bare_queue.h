// The peer of the comparison: direct OpenCL calls.
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
inline constexpr std::size_t kEmptyKernelBytes = 4096;  // per buffer
inline constexpr std::size_t kEmptyKernelItems = 64;    // one work group

// An in-order queue with the empty kernel. Not thread-safe.
class BareQueue {
 public:
  static Result<std::unique_ptr<BareQueue>> create(
      const std::shared_ptr<const hal::opencl::Api>& api,
      const hal::opencl::PlatformDevice& device);

  // Sets the arguments and enqueues the kernel `dispatches` times, then calls clFinish.
  Status run(int dispatches);

  // Makes kernel objects for run_preset(), each with its arguments.
  Status preset(int dispatches);
  // Enqueues each of these kernels, then calls clFinish.
  Status run_preset();

  // Does the same as run() with cl_khr_command_buffer: recorded once, enqueued at each call.
  class Recorded {
   public:
    virtual ~Recorded() = default;
    virtual Status run() = 0;
  };
  // Returns Unimplemented if the device lacks the extension. `loader_paths` is as in
  // opencl::DriverOptions. The queue must outlive its recordings.
  Result<std::unique_ptr<Recorded>> record(int dispatches,
                                           const std::vector<std::string>& loader_paths);

 private:
  BareQueue() = default;
  Status make(const std::shared_ptr<const hal::opencl::Api>& api,
              const hal::opencl::PlatformDevice& device);
  Result<hal::opencl::KernelHandle> make_kernel() const;
  Status set_arguments(cl_kernel kernel, int n);
  Status enqueue(cl_kernel kernel);

  std::shared_ptr<const hal::opencl::Api> api_;
  hal::opencl::PlatformDevice device_;
  hal::opencl::ContextHandle context_;
  hal::opencl::QueueHandle queue_;
  hal::opencl::MemoryHandle a_, b_;
  hal::opencl::ProgramHandle program_;
  hal::opencl::KernelHandle kernel_;
  std::vector<hal::opencl::KernelHandle> preset_;
};

}  // namespace texloom::bench_hal
