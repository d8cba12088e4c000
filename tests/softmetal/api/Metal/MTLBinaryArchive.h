#pragma once

#import <Metal/MTLComputePipeline.h>

NS_ASSUME_NONNULL_BEGIN

MTL_EXTERN NSErrorDomain const MTLBinaryArchiveDomain;
typedef NS_ENUM(NSUInteger, MTLBinaryArchiveError) {
  MTLBinaryArchiveErrorNone = 0,
  MTLBinaryArchiveErrorInvalidFile = 1,
  MTLBinaryArchiveErrorUnexpectedElement = 2,
  MTLBinaryArchiveErrorCompilationFailure = 3,
  MTLBinaryArchiveErrorInternalError = 4,
};

@interface MTLBinaryArchiveDescriptor : NSObject <NSCopying> {
  NSURL* url_;
}
@property(readwrite, nullable, copy, nonatomic) NSURL* url;
@end

@protocol MTLBinaryArchive <NSObject>
@property(nullable, copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                            error:(__autoreleasing NSError**)error;
- (BOOL)serializeToURL:(NSURL*)url error:(__autoreleasing NSError**)error;
@end

NS_ASSUME_NONNULL_END
