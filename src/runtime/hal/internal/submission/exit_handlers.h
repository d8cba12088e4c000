// Calls functions when the process ends by exit() or by returning from main.
#pragma once

#include <functional>
#include <memory>

namespace texloom::hal {

// Registers `handler` to be called at the end of the process, before anything that was registered
// with the system before this call: the exit handlers of libraries that are already loaded, and the
// destruction of static objects. The handler is not called if `owner` has been destroyed by then,
// and not in a forked child, which has none of this process's threads. Thread safe.
void call_at_exit(std::weak_ptr<void> owner, std::function<void()> handler);

// Makes the handlers also run before anything registered with the system after them: a library that
// contains a compiler may register handlers when it is first used.
void move_exit_handlers_up();

}  // namespace texloom::hal
