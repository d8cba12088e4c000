// Releases the GIL (Python's global interpreter lock) while the core does work that may take long.
#pragma once

#include "core/handles.h"

namespace texloom::python {

// Lets other Python threads run during its lifetime. The calling thread must hold the GIL.
//
// If a daemon thread requests the GIL while Python is shutting down, Python ends the thread by
// unwinding its stack. The unwinding would reach destructors, which are noexcept, and abort the
// process. So close_released_locks() waits for all threads that have released the GIL, and threads
// that release it later block forever.
class ReleasedLock {
 public:
  ReleasedLock();
  ~ReleasedLock();
  ReleasedLock(const ReleasedLock&) = delete;
  ReleasedLock& operator=(const ReleasedLock&) = delete;

 private:
  PyThreadState* state_ = nullptr;
};

// Must be called at exit, with the GIL held; the calling thread may still release it afterwards.
void close_released_locks();

}  // namespace texloom::python
