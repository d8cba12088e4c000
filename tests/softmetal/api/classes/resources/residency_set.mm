#include "tests/softmetal/api/classes/resources/residency_set.h"

#include <mutex>
#include <set>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/resources/resources.h"

using softmetal::report_misuse;
using softmetal::Resident;

struct SMResidencySetState {
  std::mutex mutex;
  std::set<id> members;    // retained
  std::set<id> committed;  // retained, too
};

namespace {

void replace(std::set<id>& by, std::set<id>& all) {
  for (id each : by) [each retain];
  for (id each : all) [each release];
  all = by;
}

}  // namespace

@implementation MTLResidencySetDescriptor
@synthesize label = label_, initialCapacity = capacity_;
- (void)dealloc {
  [label_ release];
  [super dealloc];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLResidencySetDescriptor* d = [[MTLResidencySetDescriptor allocWithZone:zone] init];
  d.label = label_;
  d.initialCapacity = capacity_;
  return d;
}
@end

namespace softmetal {

id<MTLResidencySet> new_residency_set(id<MTLDevice> device, MTLResidencySetDescriptor* descriptor,
                                      NSError** error) {
  if (must_fail("newResidencySetWithDescriptor:error:")) {
    set_error(error, @"MTLResidencySetErrorDomain", 1, kFaultText);
    return nil;
  }
  SMResidencySet* const set = [[SMResidencySet alloc] initWithDevice:device];
  [set setLabel:descriptor.label];
  return set;
}

bool may_use(id<MTLResidencySet> set, id<MTLDevice> device, const char* call) {
  if (set != nil && [set device] == device) return true;
  report_misuse(std::string(call) + ": the residency set " +
                (set == nil ? "must not be nil" : "belongs to another device"));
  return false;
}

}  // namespace softmetal

@implementation SMResidencySet
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  self = [super initWithDevice:device kind:"residency set"];
  set_ = new SMResidencySetState;
  return self;
}
- (void)dealloc {
  std::set<id> nothing;
  replace(nothing, set_->members);
  replace(nothing, set_->committed);
  delete set_;
  [super dealloc];
}
- (uint64_t)allocatedSize {
  const std::lock_guard lock(set_->mutex);
  uint64_t size = 0;
  for (id each : set_->committed) size += [each allocatedSize];
  return size;
}
// Does nothing: all memory is resident once it is committed.
- (void)requestResidency {
}
- (void)endResidency {
}
- (void)addAllocation:(id<MTLAllocation>)allocation {
  id const object = allocation;
  if (object == nil || [object device] != device_) {
    return report_misuse(std::string("addAllocation: the allocation ") +
                         (object == nil ? "must not be nil" : "belongs to another device"));
  }
  const std::lock_guard lock(set_->mutex);
  if (set_->members.insert(object).second) [object retain];
}
- (void)addAllocations:(const id<MTLAllocation>*)allocations count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self addAllocation:allocations[i]];
}
- (void)removeAllocation:(id<MTLAllocation>)allocation {
  const std::lock_guard lock(set_->mutex);
  if (set_->members.erase(allocation) != 0) [allocation release];
}
- (void)removeAllocations:(const id<MTLAllocation>*)allocations count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self removeAllocation:allocations[i]];
}
- (void)removeAllAllocations {
  const std::lock_guard lock(set_->mutex);
  std::set<id> nothing;
  replace(nothing, set_->members);
}
- (BOOL)containsAllocation:(id<MTLAllocation>)allocation {
  const std::lock_guard lock(set_->mutex);
  return set_->members.count(allocation) != 0;
}
- (NSArray<id<MTLAllocation>>*)allAllocations {
  const std::lock_guard lock(set_->mutex);
  NSMutableArray* const all = [NSMutableArray array];
  for (id each : set_->members) [all addObject:each];
  return all;
}
- (NSUInteger)allocationCount {
  const std::lock_guard lock(set_->mutex);
  return set_->members.size();
}
- (void)commit {
  const std::lock_guard lock(set_->mutex);
  replace(set_->members, set_->committed);
}
- (std::vector<Resident>)residents {
  const std::lock_guard lock(set_->mutex);
  std::vector<Resident> all;
  for (id each : set_->committed) {
    if ([each isKindOfClass:[SMHeap class]]) {
      const std::vector<Resident> more = [(SMHeap*)each residents];
      all.insert(all.end(), more.begin(), more.end());
    } else {
      all.push_back(softmetal::resident_of((SMResource*)each));
    }
  }
  return all;
}
@end
