#pragma once

#import <Metal/MTLTypes.h>

@protocol MTLDevice;
@protocol MTLSharedEvent;
@class MTLSharedEventHandle;

NS_ASSUME_NONNULL_BEGIN

@protocol MTLEvent <NSObject>
@property(nullable, readonly) id<MTLDevice> device;
@property(nullable, copy, atomic) NSString* label;
@end

@interface MTLSharedEventListener : NSObject {
  dispatch_queue_t queue_;
}
+ (MTLSharedEventListener*)sharedListener;
- (instancetype)init;
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)dispatchQueue;
@property(nonatomic, readonly) dispatch_queue_t dispatchQueue;
@end

typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent>, uint64_t value);

@protocol MTLSharedEvent <MTLEvent>
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
- (MTLSharedEventHandle*)newSharedEventHandle;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
@property(readwrite) uint64_t signaledValue;
@end

@interface MTLSharedEventHandle : NSObject {
 @public
  id<MTLSharedEvent> event_;
}
@property(readonly, nullable) NSString* label;
@end

NS_ASSUME_NONNULL_END
