// Python's lock, let go of while the core does what may take long.
#pragma once

#include "core/handles.h"

namespace texloom::python {

// Lets other threads of Python run as long as it lives. Not for use without the lock.
//
// A daemon thread that asks for the lock when Python has begun to end is ended by an unwinding that
// destructors cannot let through: the process would be aborted. So close_released_locks() waits for
// all threads that have let go of it, and a thread that comes later stays where it is.
class ReleasedLock {
 public:
  ReleasedLock();
  ~ReleasedLock();
  ReleasedLock(const ReleasedLock&) = delete;
  ReleasedLock& operator=(const ReleasedLock&) = delete;

 private:
  PyThreadState* state_ = nullptr;
};

// To be called at exit, with the lock held; the calling thread may go on to release it.
void close_released_locks();

}  // namespace texloom::python
