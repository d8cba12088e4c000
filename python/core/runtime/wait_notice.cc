#include "core/runtime/wait_notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "support/byte_text.h"

namespace texloom::python {

namespace {

using namespace std::chrono_literals;

constexpr auto kSilence = 2s;
constexpr auto kRedraw = 200ms;

bool is_terminal() {
  try {
    const py::object out = py::module_::import("sys").attr("stderr");
    return !out.is_none() && out.attr("isatty")().cast<bool>();
  } catch (const py::error_already_set&) {
    return false;
  }
}

std::string bar_of(const runtime::KernelProgress& at) {
  constexpr size_t kWidth = 20;
  const size_t full = kWidth * at.done / std::max<size_t>(at.total, 1);
  return "[" + std::string(full, '#') + std::string(kWidth - full, '.') + "]";
}

}  // namespace

// Python's stderr may be replaced, closed or None. A notice that cannot be written does not end the
// wait.
void WaitNotice::write(std::string_view text) const {
  if (!enabled_) return;
  try {
    const py::object out = py::module_::import("sys").attr("stderr");
    if (out.is_none()) return;
    out.attr("write")(text);
    out.attr("flush")();
  } catch (const py::error_already_set&) {
    return;
  }
}

void WaitNotice::say(std::string_view line) const { write(fmt::format("texloom: {}\n", line)); }

void WaitNotice::show_compiling(KernelWork work, const runtime::KernelProgress& at,
                                std::string_view kernel, size_t bytes) {
  const Clock::time_point now = Clock::now();
  if (now - begin_ < kSilence || (has_printed_ && !has_bar_) ||
      (has_bar_ && now - drawn_ < kRedraw))
    return;
  has_printed_ = true;
  drawn_ = now;
  const std::string what =
      fmt::format("the device {} kernel {} of {}, {} ({} of source)",
                  work == KernelWork::Compile ? "compiles" : "compiles and first runs", at.done + 1,
                  at.total, kernel, byte_text(bytes));
  if (!has_bar_ && !is_terminal()) return say(what);
  has_bar_ = true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
  write(fmt::format("\r\x1b[Ktexloom: {} {} s {}", bar_of(at), seconds, what));
}

void WaitNotice::show_waiting(std::chrono::milliseconds at_least, std::string_view line) {
  if (has_printed_ || Clock::now() - begin_ < at_least) return;
  has_printed_ = true;
  say(line);
}

void WaitNotice::remove_bar() {
  if (has_bar_) write("\r\x1b[K");
  has_bar_ = false;
}

std::optional<py::error_already_set> take_interrupt() {
  if (PyErr_CheckSignals() == 0) return std::nullopt;
  return py::error_already_set();
}

void end_by_interrupt() {
  py::module_::import("sys").attr("stdout").attr("flush")();
  std::fputs("texloom: ended by Ctrl-C; work on the device was not complete\n", stderr);
  std::_Exit(130);
}

}  // namespace texloom::python
