// Waits for a device's compiler, which Ctrl-C cannot stop.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/wait_notice.h"
#include "runtime/builds/kernel_builds.h"

namespace texloom::python {

// The wait for the kernels of one program. It is created with the GIL held.
class BuildWait {
 public:
  // Called without the GIL, with the kernel that is compiled and the bytes of its source. Returns
  // false after the first Ctrl-C; the second Ctrl-C ends the process.
  bool goes_on(const runtime::KernelProgress& at, std::string_view kernel, std::size_t bytes);

  // Called with the GIL.
  void throw_if_interrupted() const;

 private:
  WaitNotice notice_{shows_notices()};
  std::optional<py::error_already_set> interrupt_;
};

}  // namespace texloom::python
