// Runs one block of a launch.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "ir/interpret/access.h"
#include "ir/interpret/evaluate.h"
#include "ir/program.h"

namespace texloom::ir {

// The state that the blocks of one launch share.
struct LaunchState {
  const Kernel& kernel;
  const Bindings& memory;  // the memory of the plan, by buffer
  const Evaluator& plan;   // has the values of the kernel's scalar parameters
  RunState& run;
  ObjectHistories histories;
  // By the memory of the counters and the counter.
  std::map<std::pair<const Memory*, int64_t>, Tickets> tickets;
};

// Runs all threads of the block in turn, from one barrier, shuffle or ticket to the next. If the
// threads halt at different statements, reports this and abandons the block.
void run_block(LaunchState& launch, const std::array<int64_t, 3>& block);

}  // namespace texloom::ir
