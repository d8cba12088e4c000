// Lets threads that Python did not create, such as those of queues, use Python objects.
#pragma once

#include <optional>

#include "core/handles.h"

namespace texloom::python {

// Holds the GIL during its lifetime if Python still runs; the calling thread may hold it already.
//
// During shutdown, Python ends a thread that requests the GIL by unwinding its stack. The unwinding
// would reach destructors, which are noexcept, and abort the process. So close_python_calls() waits
// for all existing PythonCalls, and later PythonCalls do not get the GIL.
class PythonCall {
 public:
  PythonCall();
  ~PythonCall();
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;

  // Whether the thread holds the GIL and may use Python objects.
  explicit operator bool() const { return lock_.has_value(); }

 private:
  std::optional<py::gil_scoped_acquire> lock_;
};

// Must be called at exit, with the GIL held. Throws the exception of a signal that ends the wait.
void close_python_calls();

}  // namespace texloom::python
