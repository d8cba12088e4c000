// The queue of a Metal device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/commands/encoder.h"
#include "runtime/drivers/metal/commands/passes.h"
#include "runtime/drivers/metal/commands/samples.h"
#include "runtime/drivers/metal/commands/staging.h"
#include "runtime/drivers/metal/commands/transfer_kernels.h"
#include "runtime/drivers/metal/commands/work.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/queue.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Makes one command buffer of Metal for each batch. With a profile, each command that the device
// does not sample has a command buffer of its own, because Metal measures whole command buffers.
class MetalCommandQueue final : public QueueBackend {
 public:
  // `kernels` belongs to the device.
  static Result<std::unique_ptr<QueueBackend>> create(std::shared_ptr<const Context> context,
                                                      std::shared_ptr<TransferKernels> kernels);

  // `queue` is the application's id<MTLCommandQueue>; it has passed check_native_device().
  static Result<std::unique_ptr<QueueBackend>> share(std::shared_ptr<const Context> context,
                                                     std::shared_ptr<TransferKernels> kernels,
                                                     void* queue);

  Result<std::unique_ptr<Work>> start(const Batch& batch) override;
  bool can_wait(const TimelinePoint& point) const override;
  bool is_shared() const override { return is_shared_; }
  std::unique_ptr<Scope> enter() override;

 private:
  MetalCommandQueue(std::shared_ptr<const Context> context,
                    std::shared_ptr<TransferKernels> kernels, Handle<MetalQueue> queue,
                    Passes passes, bool is_shared);
  static Result<std::unique_ptr<QueueBackend>> make(std::shared_ptr<const Context> context,
                                                    std::shared_ptr<TransferKernels> kernels,
                                                    Handle<MetalQueue> queue, bool is_shared);
  struct Encoding;

  Status encode_commands(const Batch& batch, Encoding& encoding);
  Status encode_measured(const CommandRange& range, Encoding& encoding);
  Status commit_and_begin(Encoding& encoding);
  void commit(Encoding& encoding);
  void wait_natively(std::span<const TimelinePoint> points);
  void signal_natively(std::span<const TimelinePoint> points, Submitted& submitted);

  std::shared_ptr<const Context> context_;
  std::shared_ptr<TransferKernels> kernels_;
  Handle<MetalQueue> queue_;
  bool is_shared_;
  Passes passes_;
  Encoder encoder_;
  std::shared_ptr<QueueMemory> memory_;
  std::uint32_t track_ = 0;  // in the context's profile, if there is one
};

}  // namespace texloom::hal::metal
