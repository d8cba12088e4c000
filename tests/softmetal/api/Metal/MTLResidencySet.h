#pragma once

#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

@interface MTLResidencySetDescriptor : NSObject <NSCopying> {
  NSString* label_;
  NSUInteger capacity_;
}
@property(nullable, copy, nonatomic) NSString* label;
@property(readwrite, nonatomic) NSUInteger initialCapacity;
@end

@protocol MTLResidencySet <NSObject>
@property(readonly) id<MTLDevice> device;
@property(nullable, readonly) NSString* label;
@property(readonly) uint64_t allocatedSize;
- (void)requestResidency;
- (void)endResidency;
- (void)addAllocation:(id<MTLAllocation>)allocation;
- (void)addAllocations:(const id<MTLAllocation> _Nonnull[_Nonnull])allocations
                 count:(NSUInteger)count;
- (void)removeAllocation:(id<MTLAllocation>)allocation;
- (void)removeAllocations:(const id<MTLAllocation> _Nonnull[_Nonnull])allocations
                    count:(NSUInteger)count;
- (void)removeAllAllocations;
- (BOOL)containsAllocation:(id<MTLAllocation>)anAllocation;
@property(readonly, copy) NSArray<id<MTLAllocation>>* allAllocations;
@property(readonly) NSUInteger allocationCount;
- (void)commit;
@end

NS_ASSUME_NONNULL_END
