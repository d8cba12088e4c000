// The Metal driver's interface for native commands (CommandBuffer::native). Objective-C objects are
// void pointers here, so that C++ can include this header: cast them to the types in comments.
// Objective-C++ with automatic reference counting needs __bridge casts, which leave ownership
// alone.
#pragma once

#include "runtime/hal/segment.h"

namespace texloom::hal::metal {

// Lends the encoders and the command buffer for commands. A loan lasts until the next loan, or
// until the function returns; the driver ends its encoders. The commands that a function encodes
// run after the commands on which its declared accesses depend, and before those that depend on
// them.
class NativeLeases {
 public:
  // id<MTLComputeCommandEncoder> with MTLDispatchTypeConcurrent, in which the driver encodes other
  // dispatches before and after the function. The function orders its own dispatches with memory
  // barriers; it need not restore pipelines or arguments, and must not call endEncoding. Null if
  // Metal makes no encoder.
  virtual void* compute_encoder() = 0;
  // id<MTLBlitCommandEncoder>. The function must not call endEncoding. Null if Metal makes no
  // encoder.
  virtual void* blit_encoder() = 0;
  // id<MTLCommandBuffer> without an open encoder, for libraries that make their own (MPS). The
  // function ends every encoder that it makes, and does not commit. Memory is not tracked by Metal
  // (MTLHazardTrackingModeUntracked), so the function orders its own encoders.
  virtual void* command_buffer() = 0;

 protected:
  ~NativeLeases() = default;
};

// NativeCommands::handles points to this.
struct NativeHandles {
  void* device = nullptr;  // id<MTLDevice>
  void* queue = nullptr;  // id<MTLCommandQueue>; the function must not make command buffers from it
  NativeLeases* leases = nullptr;
};

// Null for the commands of another driver.
inline const NativeHandles* native_handles(const NativeCommands& commands) {
  return commands.driver == "metal" ? static_cast<const NativeHandles*>(commands.handles) : nullptr;
}

// id<MTLBuffer>, in which the memory begins at BoundBuffer::offset, or id<MTLTexture>.
void* native_memory(const BoundBuffer& place);
void* native_memory(const BoundTexture& place);

}  // namespace texloom::hal::metal
