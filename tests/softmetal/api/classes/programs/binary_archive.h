// Binary archives. For Objective-C++ sources only.
#pragma once

#include "tests/softmetal/api/classes/object.h"
#include "tests/softmetal/execute/module_archive.h"

@interface SMBinaryArchive : SMObject <MTLBinaryArchive> {
 @public
  std::shared_ptr<softmetal::ModuleArchive>* modules_;
}
@end

namespace softmetal {

id<MTLBinaryArchive> new_binary_archive(id<MTLDevice> device,
                                        MTLBinaryArchiveDescriptor* descriptor, NSError** error);

}  // namespace softmetal
