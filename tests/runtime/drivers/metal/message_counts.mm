#include "tests/runtime/drivers/metal/message_counts.h"

#import <objc/message.h>
#import <objc/runtime.h>

#include <atomic>
#include <mutex>
#include <string_view>

namespace texloom::hal::metal {
namespace {

std::atomic<bool> counting = false;
std::mutex mutex;
std::map<std::string, int>& counts() {
  static std::map<std::string, int> all;
  return all;
}

}  // namespace

MessageCounts::MessageCounts() {
  const std::lock_guard lock(mutex);
  counts().clear();
  counting = true;
}

MessageCounts::~MessageCounts() { counting = false; }

std::map<std::string, int> MessageCounts::copied() {
  const std::lock_guard lock(mutex);
  return counts();
}

int MessageCounts::of(const std::string& selector) const {
  const std::map<std::string, int> all = copied();
  const auto found = all.find(selector);
  return found == all.end() ? 0 : found->second;
}

int MessageCounts::beginning_with(const std::string& prefix) const {
  int sum = 0;
  for (const auto& [selector, count] : copied())
    if (selector.starts_with(prefix)) sum += count;
  return sum;
}

}  // namespace texloom::hal::metal

// The linker replaces the function with which GCC's runtime sends messages by this wrapper
// (--wrap=objc_msg_lookup in CMakeLists.txt).
extern "C" {
IMP __real_objc_msg_lookup(id receiver, SEL selector);
__attribute__((visibility("default"))) IMP __wrap_objc_msg_lookup(id receiver, SEL selector);

IMP __wrap_objc_msg_lookup(id receiver, SEL selector) {
  using namespace texloom::hal::metal;
  if (counting && receiver != nil) {
    const std::string_view name = class_getName(object_getClass(receiver));
    if (name.starts_with("SM") || name.starts_with("MTL")) {
      const std::lock_guard lock(mutex);
      ++counts()[sel_getName(selector)];
    }
  }
  return __real_objc_msg_lookup(receiver, selector);
}
}
