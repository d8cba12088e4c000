// Converts between Metal's objects and the pointers by which plain C++ refers to them, and between
// their values. For Objective-C++ sources alone.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/drivers/metal/api/handle.h"

namespace texloom::hal::metal {

inline id<MTLDevice> objc(MetalDevice* object) { return (id<MTLDevice>)object; }
inline id<MTLCommandQueue> objc(MetalQueue* object) { return (id<MTLCommandQueue>)object; }
inline id<MTLCommandBuffer> objc(MetalCommands* object) { return (id<MTLCommandBuffer>)object; }
inline id<MTLComputeCommandEncoder> objc(MetalCompute* object) {
  return (id<MTLComputeCommandEncoder>)object;
}
inline id<MTLBlitCommandEncoder> objc(MetalBlit* object) {
  return (id<MTLBlitCommandEncoder>)object;
}
inline id<MTLBuffer> objc(MetalMemory* object) { return (id<MTLBuffer>)object; }
inline id<MTLTexture> objc(MetalImage* object) { return (id<MTLTexture>)object; }
inline id<MTLHeap> objc(MetalHeap* object) { return (id<MTLHeap>)object; }
inline id<MTLComputePipelineState> objc(MetalPipeline* object) {
  return (id<MTLComputePipelineState>)object;
}
inline id<MTLIndirectCommandBuffer> objc(MetalIndirect* object) {
  return (id<MTLIndirectCommandBuffer>)object;
}
inline id<MTLBinaryArchive> objc(MetalArchive* object) { return (id<MTLBinaryArchive>)object; }
inline id<MTLFence> objc(MetalFence* object) { return (id<MTLFence>)object; }
inline id<MTLEvent> objc(MetalEvent* object) { return (id<MTLEvent>)object; }
inline id<MTLSharedEvent> objc(MetalSharedEvent* object) { return (id<MTLSharedEvent>)object; }
inline MTLSharedEventListener* objc(MetalListener* object) {
  return (MTLSharedEventListener*)object;
}
inline id<MTLCounterSampleBuffer> objc(MetalSamples* object) {
  return (id<MTLCounterSampleBuffer>)object;
}
inline id<MTLResidencySet> objc(MetalResidencySet* object) { return (id<MTLResidencySet>)object; }

template <typename Object>
auto objc(const Handle<Object>& handle) {
  return objc(handle.get());
}

// An owner for an object of a method named new… or alloc.
template <typename Object>
Handle<Object> adopt(id object) {
  return Handle<Object>::adopt((Object*)object);
}
// An owner for an object of any other method, which is autoreleased.
template <typename Object>
Handle<Object> share(id object) {
  return Handle<Object>::share((Object*)object);
}

inline MTLSize size_of(const std::array<std::uint32_t, 3>& size) {
  return MTLSizeMake(size[0], size[1], size[2]);
}

inline NSString* to_ns(std::string_view text) {
  return [[[NSString alloc] initWithBytes:text.data()
                                   length:text.size()
                                 encoding:NSUTF8StringEncoding] autorelease];
}
inline std::string to_string(NSString* text) {
  return text == nil || [text UTF8String] == nullptr ? std::string() : [text UTF8String];
}

}  // namespace texloom::hal::metal
