// The in-order queue of an OpenCL device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/commands/encoder.h"
#include "runtime/drivers/opencl/commands/scratch.h"
#include "runtime/drivers/opencl/commands/transfer_kernels.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/queue.h"
#include "support/status.h"

namespace texloom::hal::opencl {

class OpenClQueue final : public QueueBackend {
 public:
  // `kernels` belongs to the device.
  static Result<std::unique_ptr<QueueBackend>> create(std::shared_ptr<const Context> context,
                                                      std::shared_ptr<TransferKernels> kernels);

  // `queue` is the application's; it has passed check_native_device().
  static Result<std::unique_ptr<QueueBackend>> share(std::shared_ptr<const Context> context,
                                                     std::shared_ptr<TransferKernels> kernels,
                                                     void* queue);

  Result<std::unique_ptr<Work>> start(const Batch& batch) override;
  bool can_wait(const TimelinePoint& point) const override;
  bool is_shared() const override { return is_shared_; }

 private:
  OpenClQueue(std::shared_ptr<const Context> context, std::shared_ptr<TransferKernels> kernels,
              QueueHandle queue, bool is_shared);
  Status wait_natively(std::span<const TimelinePoint> points);
  Status encode_and_flush(const Batch& batch, Enqueued& enqueued);
  void signal_natively(std::span<const TimelinePoint> points, const Enqueued& enqueued);

  std::shared_ptr<const Context> context_;
  std::shared_ptr<TransferKernels> kernels_;
  QueueHandle queue_;
  bool is_shared_;
  Scratch scratch_;
  std::uint32_t track_ = 0;  // in the context's profile, if there is one
};

}  // namespace texloom::hal::opencl
