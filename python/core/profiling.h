// Profiles of what open devices run.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "runtime/hal/profile.h"

namespace texloom::python {

// Has devices that are opened from now on tell the profile what they run. False, and nothing
// happens, when one is open already.
bool profile_devices(std::shared_ptr<hal::Profile> profile);

// Waits for all work on all open devices. Ctrl-C is heard meanwhile.
void wait_for_open_devices();

void bind_profiling(pybind11::module_& m);

}  // namespace texloom::python
