#include "runtime/hal/internal/submission/exit_handlers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace texloom::hal {
namespace {

struct Handler {
  std::weak_ptr<void> owner;
  std::function<void()> call;
};

struct Handlers {
  std::mutex mutex;
  std::vector<Handler> list;  // guarded by mutex
  const pid_t process = ::getpid();
};

// Never destroyed, because exit() interleaves handlers and destructors.
Handlers& handlers() {
  static auto* all = new Handlers;
  return *all;
}

void call_all() {
  Handlers& all = handlers();
  if (::getpid() != all.process) return;  // a fork may have copied a locked mutex
  std::vector<Handler> list;
  {
    const std::scoped_lock lock(all.mutex);
    list = std::exchange(all.list, {});
  }
  for (auto each = list.rbegin(); each != list.rend(); ++each) {
    if (const std::shared_ptr<void> owner = each->owner.lock()) each->call();
  }
}

}  // namespace

void call_at_exit(std::weak_ptr<void> owner, std::function<void()> handler) {
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  std::erase_if(all.list, [](const Handler& each) { return each.owner.expired(); });
  all.list.push_back({std::move(owner), std::move(handler)});
  move_exit_handlers_up();
}

void move_exit_handlers_up() { static_cast<void>(std::atexit(call_all)); }

}  // namespace texloom::hal
