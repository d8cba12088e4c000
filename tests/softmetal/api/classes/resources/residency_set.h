// Residency sets: memory that kernels may reach by address, although no encoder names it. For
// Objective-C++ sources only.
#pragma once

#include <memory>
#include <vector>

#include "tests/softmetal/api/classes/commands/dispatched.h"
#include "tests/softmetal/api/classes/object.h"

// Retains its members. Changes take effect at `commit`, for command buffers that are committed
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
// Returns whether `call` may use the set; reports null and sets of another device.
bool may_use(id<MTLResidencySet> set, id<MTLDevice> device, const char* call);

}  // namespace softmetal
