#include "runtime/drivers/metal/memory/map_queue.h"

#include <algorithm>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/memory/memory.h"

namespace texloom::hal::metal {

Result<MetalQueue*> MapQueue::queue() {
  const std::lock_guard lock(mutex_);
  if (!queue_) {
    queue_ = adopt<MetalQueue>([objc(context_->device()) newCommandQueue]);
    if (!queue_) return to_error(nil, "newCommandQueue");
    context_->residency_set().add_to(queue_.get());
  }
  return queue_.get();
}

Status MapQueue::run(FunctionRef<void(MetalBlit*)> encode) {
  @autoreleasepool {
    TL_ASSIGN_OR_RETURN(MetalQueue* const queue, this->queue());
    id<MTLCommandBuffer> commands = [objc(queue) commandBuffer];
    if (commands == nil) return to_error(nil, "commandBuffer");
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    if (encoder == nil) return to_error(nil, "blitCommandEncoder");
    encode((MetalBlit*)encoder);
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    return status_of(commands);
  }
}

Status MapQueue::synchronize(MetalMemory* memory) {
#if TARGET_OS_IPHONE
  static_cast<void>(memory);
  return {};
#else
  return run([&](MetalBlit* encoder) { [objc(encoder) synchronizeResource:objc(memory)]; });
#endif
}

Status MapQueue::read(MetalMemory* memory, std::uint64_t offset, std::uint64_t bytes,
                      std::byte* to) {
  @autoreleasepool {
    const std::uint64_t begin = offset / kTransferUnit * kTransferUnit;
    const std::uint64_t end = (offset + bytes + kTransferUnit - 1) / kTransferUnit * kTransferUnit;
    TL_ASSIGN_OR_RETURN(const Handle<MetalMemory> copy,
                        create_memory(*context_, end - begin, MemoryKind::Shared));
    TL_RETURN_IF_ERROR(run([&](MetalBlit* encoder) {
      [objc(encoder) copyFromBuffer:objc(memory)
                       sourceOffset:begin
                           toBuffer:objc(copy)
                  destinationOffset:0
                               size:end - begin];
    }));
    const auto* from = static_cast<const std::byte*>(objc(copy).contents) + (offset - begin);
    std::copy_n(from, bytes, to);
    return {};
  }
}

}  // namespace texloom::hal::metal
