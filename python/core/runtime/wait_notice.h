// Prints on stderr the reason for a long wait, and the effect of Ctrl-C.
//
// All functions must be called with the GIL held.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/handles.h"
#include "runtime/builds/kernel_builds.h"

namespace texloom::python {

// The work of a device on a kernel while the process waits.
enum class KernelWork : uint8_t {
  Compile,
  CompileAndRun,  // the device compiles the kernel as part of its first run
};

// The notice of one wait. Nothing is printed in the first two seconds. Then a terminal shows a bar,
// which is removed at the end; any other stderr gets one line.
class WaitNotice {
 public:
  // Prints nothing if `enabled` is false.
  explicit WaitNotice(bool enabled) : enabled_(enabled) {}
  ~WaitNotice() { remove_bar(); }
  WaitNotice(const WaitNotice&) = delete;
  WaitNotice& operator=(const WaitNotice&) = delete;

  // Prints a line to Python's sys.stderr.
  void say(std::string_view line) const;
  // Shows the work on the kernel `current` of `at`, whose source has `bytes` bytes.
  void show_compiling(KernelWork work, const runtime::KernelProgress& at, std::string_view kernel,
                      size_t bytes);
  // Prints the line, once, when the wait has taken `at_least`.
  void show_waiting(std::chrono::milliseconds at_least, std::string_view line);
  void remove_bar();

 private:
  using Clock = std::chrono::steady_clock;

  void write(std::string_view text) const;

  const bool enabled_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;  // the bar
  bool has_bar_ = false;
  bool has_printed_ = false;  // a bar or a line
};

// Python's exception for a signal, usually KeyboardInterrupt; nullopt if there was none.
std::optional<py::error_already_set> take_interrupt();

// Ends the process at once, with the exit code of a process that Ctrl-C ended.
[[noreturn]] void end_by_interrupt();

}  // namespace texloom::python
