// What a checked function says of its indices: the memory of its last parameter.
#pragma once

#include <memory>
#include <vector>

#include "lower/lowering.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"

namespace texloom::python {

// Memory for one run in which no index is bad so far.
hal::Binding no_bad_indices(hal::Device& device, const std::vector<lower::CheckedIndex>& checks);

// Waits for the run, and fails with IndexOutOfRange, at the line of the access, if the kernels have
// written a bad index. Of several it tells the first in the order of the program.
void throw_if_bad(hal::Device& device, const hal::Binding& report,
                  const std::vector<lower::CheckedIndex>& checks);

}  // namespace texloom::python
