#include "core/runtime/build_wait.h"

#include <utility>

namespace texloom::python {

bool BuildWait::goes_on(const runtime::KernelProgress& at, std::string_view kernel,
                        std::size_t bytes) {
  const py::gil_scoped_acquire lock;
  if (auto signal = take_interrupt()) {
    notice_.remove_bar();
    if (interrupt_ && signal->matches(PyExc_KeyboardInterrupt)) end_by_interrupt();
    if (!interrupt_)
      notice_.say(
          "waiting for the device's compiler, which cannot be stopped; Ctrl-C ends the process at "
          "once");
    interrupt_ = std::move(signal);
  }
  if (!interrupt_) notice_.show_compiling(KernelWork::Compile, at, kernel, bytes);
  return !interrupt_;
}

void BuildWait::throw_if_interrupted() const {
  if (interrupt_) throw *interrupt_;
}

}  // namespace texloom::python
