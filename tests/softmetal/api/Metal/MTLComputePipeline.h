#pragma once

#import <Metal/MTLLibrary.h>

@protocol MTLBinaryArchive;

NS_ASSUME_NONNULL_BEGIN

typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionArgumentInfo = 1 << 0,
  MTLPipelineOptionBindingInfo = 1 << 0,
  MTLPipelineOptionBufferTypeInfo = 1 << 1,
  MTLPipelineOptionFailOnBinaryArchiveMiss = 1 << 2,
};

typedef NS_ENUM(NSUInteger, MTLMutability) {
  MTLMutabilityDefault = 0,
  MTLMutabilityMutable = 1,
  MTLMutabilityImmutable = 2,
};

@interface MTLPipelineBufferDescriptor : NSObject <NSCopying> {
  MTLMutability mutability_;
}
@property(nonatomic) MTLMutability mutability;
@end

@interface MTLPipelineBufferDescriptorArray : NSObject {
  NSMutableArray* buffers_;
}
- (MTLPipelineBufferDescriptor*)objectAtIndexedSubscript:(NSUInteger)bufferIndex;
- (void)setObject:(nullable MTLPipelineBufferDescriptor*)buffer
    atIndexedSubscript:(NSUInteger)bufferIndex;
@end

@interface MTLComputePipelineReflection : NSObject {
 @public
  NSArray* bindings_;
}
@property(readonly) NSArray<id<MTLBinding>>* bindings;
@end

typedef MTLComputePipelineReflection* _Nullable MTLAutoreleasedComputePipelineReflection;

@interface MTLComputePipelineDescriptor : NSObject <NSCopying> {
  NSString* label_;
  id<MTLFunction> function_;
  BOOL multiple_, indirect_;
  NSUInteger threads_;
  MTLPipelineBufferDescriptorArray* buffers_;
  NSArray<id<MTLBinaryArchive>>* archives_;
}
@property(nullable, copy, nonatomic) NSString* label;
@property(nullable, readwrite, nonatomic, retain) id<MTLFunction> computeFunction;
@property(readwrite, nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property(readwrite, nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) MTLPipelineBufferDescriptorArray* buffers;
@property(readwrite, nonatomic) BOOL supportIndirectCommandBuffers;
@property(readwrite, nullable, nonatomic, copy) NSArray<id<MTLBinaryArchive>>* binaryArchives;
- (void)reset;
@end

@protocol MTLComputePipelineState <NSObject>
@property(nullable, readonly) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@property(readonly) BOOL supportIndirectCommandBuffers;
@property(readonly) MTLResourceID gpuResourceID;
@end

NS_ASSUME_NONNULL_END
