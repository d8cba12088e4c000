#include "core/runtime/released_lock.h"

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace texloom::python {

namespace {

using namespace std::chrono_literals;

// The threads that have released the GIL. The GIL must be held to access this object.
struct Threads {
  pid_t process = getpid();
  int without_lock = 0;
  std::thread::id last;  // the thread that closed the locks: only it may still release the GIL
};
Threads& threads() {
  static Threads all;
  // A forked process has none of the other threads, so their part of the count would never fall.
  if (all.process != getpid()) all = Threads();
  return all;
}

}  // namespace

ReleasedLock::ReleasedLock() {
  Threads& all = threads();
  const bool closed = all.last != std::thread::id();
  if (!closed || all.last == std::this_thread::get_id()) {
    ++all.without_lock;
    state_ = PyEval_SaveThread();
    return;
  }
  PyEval_SaveThread();
  while (true) std::this_thread::sleep_for(1h);  // until the process ends
}

ReleasedLock::~ReleasedLock() {
  PyEval_RestoreThread(state_);
  --threads().without_lock;
}

void close_released_locks() {
  Threads& all = threads();
  all.last = std::this_thread::get_id();
  while (all.without_lock > 0) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();  // Ctrl-C
    PyThreadState* const state = PyEval_SaveThread();
    std::this_thread::sleep_for(1ms);
    PyEval_RestoreThread(state);
  }
}

}  // namespace texloom::python
