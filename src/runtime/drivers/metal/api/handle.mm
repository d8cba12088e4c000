#include "runtime/drivers/metal/api/handle.h"

#import <Foundation/Foundation.h>

namespace texloom::hal::metal {

void retain_object(void* object) { [(id)object retain]; }
void release_object(void* object) { [(id)object release]; }

}  // namespace texloom::hal::metal
