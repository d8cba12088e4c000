#pragma once

#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

typedef NSString* MTLCommonCounter;
MTL_EXTERN MTLCommonCounter const MTLCommonCounterTimestamp;
typedef NSString* MTLCommonCounterSet;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetTimestamp;

typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;

#define MTLCounterErrorValue ((uint64_t)-1)
#define MTLCounterDontSample ((NSUInteger) - 1)

MTL_EXTERN NSErrorDomain const MTLCounterErrorDomain;
typedef NS_ENUM(NSInteger, MTLCounterSampleBufferError) {
  MTLCounterSampleBufferErrorOutOfMemory = 0,
  MTLCounterSampleBufferErrorInvalid = 1,
  MTLCounterSampleBufferErrorInternal = 2,
};

typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
  MTLCounterSamplingPointAtStageBoundary = 0,
  MTLCounterSamplingPointAtDrawBoundary = 1,
  MTLCounterSamplingPointAtDispatchBoundary = 2,
  MTLCounterSamplingPointAtTileDispatchBoundary = 3,
  MTLCounterSamplingPointAtBlitBoundary = 4,
};

@protocol MTLCounter <NSObject>
@property(readonly, copy) NSString* name;
@end

@protocol MTLCounterSet <NSObject>
@property(readonly, copy) NSString* name;
@property(readonly, copy) NSArray<id<MTLCounter>>* counters;
@end

@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying> {
  id<MTLCounterSet> set_;
  NSString* label_;
  MTLStorageMode mode_;
  NSUInteger count_;
}
@property(readwrite, nullable, retain) id<MTLCounterSet> counterSet;
@property(readwrite, copy) NSString* label;
@property(readwrite, nonatomic) MTLStorageMode storageMode;
@property(readwrite, nonatomic) NSUInteger sampleCount;
@end

@protocol MTLCounterSampleBuffer <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString* label;
@property(readonly) NSUInteger sampleCount;
- (nullable NSData*)resolveCounterRange:(NSRange)range;
@end

NS_ASSUME_NONNULL_END
