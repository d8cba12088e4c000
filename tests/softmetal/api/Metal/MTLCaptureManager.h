#pragma once

#import <Metal/MTLTypes.h>

@protocol MTLDevice;
@protocol MTLCommandQueue;

NS_ASSUME_NONNULL_BEGIN

MTL_EXTERN NSErrorDomain const MTLCaptureErrorDomain;
typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing = 2,
  MTLCaptureErrorInvalidDescriptor = 3,
};

typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument = 2,
};

@interface MTLCaptureDescriptor : NSObject <NSCopying> {
  id object_;
  MTLCaptureDestination destination_;
  NSURL* url_;
}
@property(nonatomic, retain, nullable) id captureObject;
@property(nonatomic) MTLCaptureDestination destination;
@property(nonatomic, copy, nullable) NSURL* outputURL;
@end

@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager*)sharedCaptureManager;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor
                             error:(__autoreleasing NSError**)error;
- (void)stopCapture;
@property(readonly) BOOL isCapturing;
@end

NS_ASSUME_NONNULL_END
