#include "core/runtime/python_call.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace texloom::python {
namespace {

using namespace std::chrono_literals;

// A call increments the count before it reads `interpreter_closed`; closing sets the flag before it
// reads the count. So either closing waits for a call, or the call sees the flag.
std::atomic<int> calls = 0;
std::atomic<bool> interpreter_closed = false;

}  // namespace

PythonCall::PythonCall() {
  ++calls;
  // A thread that already holds the GIL may request it even now: Python does not end this thread.
  if (!interpreter_closed || (Py_IsInitialized() != 0 && PyGILState_Check() != 0)) lock_.emplace();
}

PythonCall::~PythonCall() {
  lock_.reset();
  --calls;
}

void close_python_calls() {
  interpreter_closed = true;
  while (calls > 0) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();  // Ctrl-C
    const py::gil_scoped_release released;
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace texloom::python
