// Refuses waits in functions that a queue or a recording calls: a wait would delay the caller.
#pragma once

#include <string_view>

#include "support/status.h"

namespace texloom::hal {

// During its lifetime, Queue::run, Queue::wait_idle, Semaphore::wait, wait_all and wait_any return
// InvalidArgument on the calling thread, naming `caller`, which must outlive this object.
class NoWaits {
 public:
  explicit NoWaits(std::string_view caller);
  ~NoWaits();
  NoWaits(const NoWaits&) = delete;
  NoWaits& operator=(const NoWaits&) = delete;

  // Whether a NoWaits object exists on the calling thread.
  static bool are_refused();

 private:
  std::string_view outer_;  // the caller that an enclosing object names
};

// The error of a wait on the calling thread while a NoWaits object exists there; otherwise success.
Status check_may_wait();

}  // namespace texloom::hal
