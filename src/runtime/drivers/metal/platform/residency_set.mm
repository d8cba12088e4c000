#include "runtime/drivers/metal/platform/residency_set.h"

#include "runtime/drivers/metal/api/objects.h"

namespace texloom::hal::metal {
namespace {

Handle<MetalResidencySet> make_set(id<MTLDevice> device) {
  if (@available(macOS 15, iOS 18, *)) {
    // Some devices, such as the software implementation of Metal, have no residency sets.
    if (![device respondsToSelector:@selector(newResidencySetWithDescriptor:error:)]) return {};
    MTLResidencySetDescriptor* descriptor = [[[MTLResidencySetDescriptor alloc] init] autorelease];
    return adopt<MetalResidencySet>([device newResidencySetWithDescriptor:descriptor
                                                                    error:nullptr]);
  }
  return {};
}

}  // namespace

SetMember::~SetMember() {
  if (set_ != nullptr) set_->remove(allocation_, bytes_);
}

ResidencySet::ResidencySet(MetalDevice* device, std::uint64_t limit) : limit_(limit) {
  @autoreleasepool {
    set_ = make_set(objc(device));
  }
}

ResidencySet::~ResidencySet() {
  @autoreleasepool {
    [objc(set_) endResidency];
  }
}

void ResidencySet::add_to(MetalQueue* queue) const {
  if (set_) [objc(queue) addResidencySet:objc(set_)];
}

SetMember ResidencySet::keep(void* allocation) {
  if (!set_) return {};
  @autoreleasepool {
    const id<MTLAllocation> added = (id<MTLAllocation>)allocation;
    const std::uint64_t bytes = added.allocatedSize;
    const std::lock_guard lock(mutex_);
    if (bytes > limit_ - bytes_) return {};
    [objc(set_) addAllocation:added];
    bytes_ += bytes;
    has_additions_ = true;
    return {this, allocation, bytes};
  }
}

// Removed allocations stay retained until commit(), which is a system call.
void ResidencySet::remove(void* allocation, std::uint64_t bytes) {
  @autoreleasepool {
    const std::lock_guard lock(mutex_);
    [objc(set_) removeAllocation:(id<MTLAllocation>)allocation];
    bytes_ -= bytes;
    removed_bytes_ += bytes;
    if (removed_bytes_ > kMostRemoved) commit();
  }
}

void ResidencySet::commit() {
  [objc(set_) commit];
  removed_bytes_ = 0;
}

void ResidencySet::update() {
  const std::lock_guard lock(mutex_);
  if (has_additions_ || removed_bytes_ > 0) commit();
  if (std::exchange(has_additions_, false)) [objc(set_) requestResidency];
}

}  // namespace texloom::hal::metal
