// The base of all objects of the API: a device, a label, and the number of commands in flight that
// need the object. For Objective-C++ sources only.
#pragma once

#import <Metal/Metal.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/softmetal/api/classes/checks/validation.h"

namespace softmetal {

inline std::string text_of(NSString* text) {
  @autoreleasepool {  // owns the characters; deallocations may run without a pool
    return text == nil ? std::string() : [text UTF8String];
  }
}
inline NSString* string_of(const std::string& text) {
  return [NSString stringWithUTF8String:text.c_str()];
}
// Autoreleased.
NSError* make_error(NSString* domain, NSInteger code, const std::string& text);
// Sets `*error`, unless `error` is null.
void set_error(NSError** error, NSString* domain, NSInteger code, const std::string& text);

// Outlives its object.
struct ObjectState {
  std::atomic<int> in_flight = 0;  // commands that use the object without retaining it
  std::atomic<bool> is_gone = false;
  std::string name;  // for messages after the object is gone
};

}  // namespace softmetal

// Messages to an object are reported as misuses for some time after the object's deallocation.
@interface SMObject : NSObject {
 @public
  NSString* label_;
  id<MTLDevice> device_;
  std::shared_ptr<softmetal::ObjectState>* state_;
}
// Devices live as long as the program.
- (instancetype)initWithDevice:(id<MTLDevice>)device kind:(const char*)kind;
- (id<MTLDevice>)device;
- (NSString*)label;
- (void)setLabel:(NSString*)label;
- (std::string)described;  // its kind and label, for messages
@end
