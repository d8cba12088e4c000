// What all objects of the API have: a device, a label, and the knowledge whether commands in flight
// need them. For Objective-C++ sources alone.
#pragma once

#import <Metal/Metal.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/softmetal/api/classes/checks/validation.h"

namespace softmetal {

inline std::string text_of(NSString* text) {
  @autoreleasepool {  // for the characters; there may be none around deallocations
    return text == nil ? std::string() : [text UTF8String];
  }
}
inline NSString* string_of(const std::string& text) {
  return [NSString stringWithUTF8String:text.c_str()];
}
// Autoreleased.
NSError* make_error(NSString* domain, NSInteger code, const std::string& text);
// If there is a place for it.
void set_error(NSError** error, NSString* domain, NSInteger code, const std::string& text);

// Outlives its object.
struct ObjectState {
  std::atomic<int> in_flight = 0;  // commands that do not retain it
  std::atomic<bool> is_gone = false;
  std::string name;  // "the buffer", once it is gone with its label
};

}  // namespace softmetal

// Whoever sends a message to such an object after it was deallocated is reported for some time.
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
