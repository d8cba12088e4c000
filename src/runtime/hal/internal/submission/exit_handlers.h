// Functions that are called when the process ends by exit() or by returning from main.
#pragma once

#include <functional>
#include <memory>

namespace texloom::hal {

// Calls `handler` at the end of the process, before anything that was registered with the system
// before this call: the exit handlers of libraries that are loaded already, and the destruction of
// objects in static storage. Not if `owner` has been destroyed by then, nor in a forked child,
// which has none of this process's threads. Thread safe.
void call_at_exit(std::weak_ptr<void> owner, std::function<void()> handler);

// Makes the handlers run before anything registered with the system since, too: libraries that
// compile may register handlers at their first use.
void move_exit_handlers_up();

}  // namespace texloom::hal
