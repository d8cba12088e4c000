#include "tests/softmetal/api/classes/object.h"

#include <deque>
#include <map>
#include <mutex>

using softmetal::report_misuse;

namespace {

// The number of deallocated objects that are kept, to find later uses.
constexpr size_t kMostKept = 1024;
std::mutex kept_mutex;
std::deque<id>& kept() {
  static auto* const objects = new std::deque<id>;
  return *objects;
}
std::map<const void*, std::string>& names() {
  static auto* const all = new std::map<const void*, std::string>;
  return *all;
}

}  // namespace

// The class that a deallocated object gets.
@interface SMDeallocated : NSObject
@end

@implementation SMDeallocated
- (void)reportUse:(const char*)message {
  std::string name;
  {
    const std::lock_guard lock(kept_mutex);
    name = names()[self];
  }
  report_misuse(std::string(message) + ": " + name +
                " was deallocated before: it was released more often than retained");
}
- (id)retain {
  [self reportUse:"retain"];
  return self;
}
- (oneway void)release {
  [self reportUse:"release"];
}
- (id)autorelease {
  [self reportUse:"autorelease"];
  return self;
}
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector {
  [self reportUse:[NSStringFromSelector(selector) UTF8String]];
  return [NSMethodSignature signatureWithObjCTypes:"@@:"];
}
- (void)forwardInvocation:(NSInvocation*)invocation {
  id nothing = nil;
  [invocation setReturnValue:&nothing];
}
@end

namespace softmetal {

NSError* make_error(NSString* domain, NSInteger code, const std::string& text) {
  return [NSError errorWithDomain:domain
                             code:code
                         userInfo:[NSDictionary dictionaryWithObject:string_of(text)
                                                              forKey:NSLocalizedDescriptionKey]];
}

void set_error(NSError** error, NSString* domain, NSInteger code, const std::string& text) {
  if (error != nullptr) *error = make_error(domain, code, text);
}

}  // namespace softmetal

@implementation SMObject
- (instancetype)initWithDevice:(id<MTLDevice>)device kind:(const char*)kind {
  self = [super init];
  device_ = device;
  state_ = new std::shared_ptr<softmetal::ObjectState>(new softmetal::ObjectState);
  (*state_)->name = std::string("the ") + kind;
  return self;
}
- (void)dealloc {
  const std::shared_ptr<softmetal::ObjectState> state = *state_;
  state->name = [self described];
  state->is_gone = true;
  delete state_;
  [label_ release];
  id gone = nil;
  {
    const std::lock_guard lock(kept_mutex);
    names()[self] = state->name;
    kept().push_back(self);
    object_setClass(self, [SMDeallocated class]);
    if (kept().size() > kMostKept) {
      gone = kept().front();
      kept().pop_front();
      names().erase(gone);
    }
  }
  if (gone != nil) NSDeallocateObject(gone);
  if (state->in_flight > 0) {
    report_misuse("dealloc: " + state->name +
                  " is needed by a command buffer that has not completed, and does not retain it");
  }
  if (false) [super dealloc];  // never: the memory is kept for a while
}
- (id<MTLDevice>)device {
  return device_;
}
- (NSString*)label {
  return label_;
}
- (void)setLabel:(NSString*)label {
  NSString* const before = label_;
  label_ = [label copy];
  [before release];
}
- (std::string)described {
  const std::string label = softmetal::text_of(label_);
  return label.empty() ? (*state_)->name : (*state_)->name + " \"" + label + "\"";
}
@end
