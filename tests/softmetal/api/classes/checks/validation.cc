#include "tests/softmetal/api/classes/checks/validation.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace softmetal {
namespace {
std::mutex hook_mutex;
// Never destroyed, since threads of queues may outlive main().
MisuseHook& current_hook() {
  static auto* const hook = new MisuseHook;
  return *hook;
}
}  // namespace

MisuseHook set_misuse_hook(MisuseHook hook) {
  const std::lock_guard lock(hook_mutex);
  return std::exchange(current_hook(), std::move(hook));
}

void report_misuse(const std::string& text) {
  MisuseHook hook;
  {
    const std::lock_guard lock(hook_mutex);
    hook = current_hook();
  }
  if (hook) {
    hook(text);
    return;
  }
  std::fprintf(stderr, "Metal API misuse: %s\n", text.c_str());
  std::abort();
}

}  // namespace softmetal
