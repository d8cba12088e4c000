// Residency sets: memory that kernels may reach by addresses, without naming it. For Objective-C++
// sources alone.
#pragma once

#include <memory>
#include <vector>

#include "tests/softmetal/api/classes/commands/dispatched.h"
#include "tests/softmetal/api/classes/object.h"

// Retains what is in it. Changes count from `commit` on, and for command buffers that are committed
// later.
@interface SMResidencySet : SMObject <MTLResidencySet> {
 @public
  struct SMResidencySetState* set_;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (std::vector<softmetal::Resident>)residents;  // that are committed
@end

namespace softmetal {

id<MTLResidencySet> new_residency_set(id<MTLDevice> device, MTLResidencySetDescriptor* descriptor,
                                      NSError** error);
// Reports null and sets of another device.
bool may_use(id<MTLResidencySet> set, id<MTLDevice> device, const char* call);

}  // namespace softmetal
