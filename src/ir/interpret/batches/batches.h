// Computes arrays as the reference interpreter does, but many elements at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace texloom::ir {

struct BatchOptions {
  // As for interpret(): steps that the interpreter would take. A guarded statement counts as taken.
  std::int64_t max_steps = 0;
  // Is called from time to time, and may throw to end the run; null: is not called.
  std::function<void()> interruption = nullptr;
};

// Runs a program at stage Loops whose first parameters are `inputs`, row-major; `outputs` gets the
// bytes of the other parameters. The elements have the same bits as those of interpret(), since
// each operation is that of ir/interpret/value.h.
//
// Each nest must be what validation/unscheduled.h makes of a compute: loops along all axes of the
// arrays that it stores to, and inside of them statements that store to and load from the element
// of these loops, and load from other arrays. Then elements of a nest do not depend on each other:
// some hundred of them are computed side by side, by a list of instructions.
//
// False, with no outputs, if the program is not of this kind, takes more than the steps, or does
// what the interpreter reports or leaves undefined. interpret() decides then.
bool interpret_in_batches(const Program& program,
                          std::span<const std::span<const std::byte>> inputs,
                          std::vector<std::vector<std::byte>>& outputs,
                          const BatchOptions& options);

}  // namespace texloom::ir
