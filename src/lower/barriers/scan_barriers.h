// Inserts barriers between the steps of a scan in one kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/buffer.h"
#include "ir/stmt.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// The results of a scan, which its steps write and later steps read.
struct ScanResults {
  const std::string& name;  // of the scan
  ir::Expr step;            // the variable of the loop over the steps
  // The buffers of the scan's states, whose first axis counts the steps.
  const std::vector<ir::Buffer>& buffers;
  const ir::arith::Ranges& ranges;  // the ranges of all variables of the loops
};

struct ScanWithBarriers {
  ir::Stmt loops;
  // The error to report unless each step becomes a launch: a block may read elements that another
  // block writes, and nothing within a kernel orders blocks. nullopt if no block reads elements of
  // another block.
  std::optional<Diagnostic> across_blocks;
};

// Puts a barrier after each statement that writes elements that other threads of the block read,
// later in the same step or in a later one. Omits the barrier if each thread is known to read only
// elements that it wrote itself: for any two accesses of one element, at least one of them a write,
// the indices after the first (the step) are known to belong to one thread.
//
// `loops` are the loops of the scan, at stage Loops.
ScanWithBarriers insert_scan_barriers(const ir::Stmt& loops, const ScanResults& results);

// Whether blocks of one kernel of the plan may read what other blocks compute in the same step. The
// loop over the steps is in the plan, so results of earlier steps are available.
bool exchanges_across_blocks(const ir::Stmt& plan, const ScanResults& results);

}  // namespace texloom::lower
