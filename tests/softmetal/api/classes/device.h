// Devices. For Objective-C++ sources only.
#pragma once

#import <Metal/Metal.h>

#include "tests/softmetal/api/classes/models.h"

@interface SMDevice : NSObject <MTLDevice> {
 @public
  const softmetal::DeviceModel* model_;
}
@end
