// References to Metal's objects, as plain C++ sees them: typed pointers, and their owners.
#pragma once

#include <utility>

namespace texloom::hal::metal {

// Stand for id<MTLDevice>, id<MTLBuffer>, … in headers that C++ includes; api/objects.h has the
// types that they stand for. Never defined.
struct MetalDevice;
struct MetalQueue;
struct MetalCommands;  // id<MTLCommandBuffer>
struct MetalCompute;   // id<MTLComputeCommandEncoder>
struct MetalBlit;      // id<MTLBlitCommandEncoder>
struct MetalMemory;    // id<MTLBuffer>
struct MetalImage;     // id<MTLTexture>
struct MetalHeap;
struct MetalPipeline;  // id<MTLComputePipelineState>
struct MetalIndirect;  // id<MTLIndirectCommandBuffer>
struct MetalArchive;   // id<MTLBinaryArchive>
struct MetalFence;
struct MetalEvent;
struct MetalSharedEvent;
struct MetalListener;  // MTLSharedEventListener
struct MetalSamples;   // id<MTLCounterSampleBuffer>
struct MetalResidencySet;

// Send `retain` and `release` to an Objective-C object, or do nothing for null. Thread safe.
void retain_object(void* object);
void release_object(void* object);

// Owns one reference; each copy owns another one.
template <typename Object>
class Handle {
 public:
  Handle() = default;
  // Takes over a reference that the caller owns, such as the result of a method named new… or
  // alloc.
  static Handle adopt(Object* object) {
    Handle handle;
    handle.object_ = object;
    return handle;
  }
  // Adds a reference.
  static Handle share(Object* object) {
    retain_object(object);
    return adopt(object);
  }
  Handle(const Handle& other) : object_(other.object_) { retain_object(object_); }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() { release_object(object_); }

  Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

}  // namespace texloom::hal::metal
