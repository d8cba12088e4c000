// Says on stderr what a long wait is for, and what Ctrl-C does.
//
// All functions must be called with the GIL held.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/handles.h"
#include "runtime/kernel_builds.h"

namespace texloom::python {

// Whether notices are printed; they are until this is called.
void show_notices(bool enabled);

// Prints a line to Python's sys.stderr, if notices are shown.
void say(std::string_view line);

// One wait. Its first two seconds are silent. After that, a terminal shows a bar, which is
// removed at the end; any other stderr gets one line.
class WaitNotice {
 public:
  WaitNotice() = default;
  ~WaitNotice() { remove_bar(); }
  WaitNotice(const WaitNotice&) = delete;
  WaitNotice& operator=(const WaitNotice&) = delete;

  // The device "compiles" the kernel `current` of `at`, whose source has so many bytes.
  void is_compiling(std::string_view does, const runtime::KernelProgress& at,
                    std::string_view kernel, size_t bytes);
  // Prints a line, once, when the wait has taken this long.
  void is_waiting(std::chrono::milliseconds at_least, std::string_view line);
  void remove_bar();

 private:
  using Clock = std::chrono::steady_clock;

  const Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;  // the bar
  bool has_bar_ = false;
  bool has_printed_ = false;
};

// Python's exception for a signal, usually KeyboardInterrupt; nullopt if there was none.
std::optional<py::error_already_set> take_interrupt();

// Ends the process at once, with the exit code of a process that Ctrl-C ended.
[[noreturn]] void end_by_interrupt();

}  // namespace texloom::python
