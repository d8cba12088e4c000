// The classes behind Metal's protocols. Protocol methods that are missing fail as unknown
// selectors.
#pragma once

#import <Metal/Metal.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/softmetal/api/classes/validation.h"
#include "tests/softmetal/execute/dispatch.h"

namespace softmetal {
// A command returns what went wrong, or nothing.
using Command = std::function<std::string()>;

inline std::string text_of(NSString* text) { return text == nil ? "" : [text UTF8String]; }
inline NSString* string_of(const std::string& text) {
  return [NSString stringWithUTF8String:text.c_str()];
}
NSError* make_error(NSString* domain, NSInteger code, const std::string& text);

// The memory of a buffer, also under texture views of it.
struct Storage {
  Storage(size_t size, void* borrowed);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  uint8_t* data;
  size_t size;
  bool owned;
};
}  // namespace softmetal

@interface SMObject : NSObject {
  NSString* label_;
  id<MTLDevice> device_;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (id<MTLDevice>)device;
- (NSString*)label;
- (void)setLabel:(NSString*)label;
@end

@interface SMDevice : NSObject <MTLDevice>
@end

@interface SMFence : SMObject <MTLFence>
@end

@interface SMSharedEvent : SMObject <MTLSharedEvent> {
  struct SMEventState* state_;
}
- (void)waitForValue:(uint64_t)value;
- (BOOL)signalValue:(uint64_t)value;
@end

@interface SMResource : SMObject {
 @public
  MTLResourceOptions options_;
  std::shared_ptr<softmetal::Storage>* storage_;
}
- (void)take:(std::shared_ptr<softmetal::Storage>)storage options:(MTLResourceOptions)options;
- (MTLStorageMode)storageMode;
@end

@interface SMBuffer : SMResource <MTLBuffer>
- (uint8_t*)bytes;  // also of private memory
@end

@interface SMTexture : SMResource <MTLTexture> {
 @public
  MTLTextureDescriptor* descriptor_;
  softmetal::Texture* texture_;
}
// Null with a misuse reported if the descriptor is none. The storage of a buffer, or null.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    descriptor:(MTLTextureDescriptor*)descriptor
                       storage:(std::shared_ptr<softmetal::Storage>)storage
                        offset:(NSUInteger)offset
                   bytesPerRow:(NSUInteger)bytesPerRow;
@end

@interface SMLibrary : SMObject <MTLLibrary> {
 @public
  std::shared_ptr<softmetal::Library>* library_;
}
@end

@interface SMFunction : SMObject <MTLFunction> {
 @public
  std::shared_ptr<softmetal::Function>* function_;
}
@end

@interface SMPipeline : SMObject <MTLComputePipelineState> {
 @public
  std::shared_ptr<softmetal::Function>* function_;
}
@end

@interface SMQueue : SMObject <MTLCommandQueue> {
 @public
  dispatch_queue_t worker_;
}
@end

@interface SMCommandBuffer : SMObject <MTLCommandBuffer> {
 @public
  struct SMCommandBufferState* state_;
}
- (void)record:(softmetal::Command)command;
- (void)encoderEnded;
@end

@interface SMEncoder : SMObject <MTLCommandEncoder> {
 @public
  SMCommandBuffer* buffer_;
  BOOL ended_;
}
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer;
- (BOOL)mayEncode;                             // reports a misuse if encoding has ended
- (BOOL)owns:(id)object as:(const char*)what;  // reports objects of another device, and null
@end

@interface SMComputeEncoder : SMEncoder <MTLComputeCommandEncoder> {
 @public
  struct SMComputeState* state_;
  MTLDispatchType type_;
}
@end

@interface SMBlitEncoder : SMEncoder <MTLBlitCommandEncoder>
@end
