// Handles the report of a checked build: the memory of its last parameter, one int64 per tested
// index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lower/lowering.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "support/status.h"

namespace texloom::compile {

// Makes the memory for the report of one run, initialized to report no bad index.
Result<hal::Binding> make_index_report(hal::Device& device,
                                       std::span<const lower::CheckedIndex> checks);

// Waits for the run and reads its report.
Result<std::vector<int64_t>> read_index_report(hal::Device& device, const hal::Binding& report,
                                               std::span<const lower::CheckedIndex> checks);

// Fails with IndexOutOfRange, at the line of the access, if the report contains a bad index; names
// the first one in the order of the program.
void fail_if_bad(std::span<const int64_t> report, std::span<const lower::CheckedIndex> checks);

}  // namespace texloom::compile
