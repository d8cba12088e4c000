// Barriers between the steps of a scan in one kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/buffer.h"
#include "ir/stmt.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// The results of a scan, which its steps write, and which later steps read.
struct ScanResults {
  const std::string& name;                 // of the scan
  ir::Expr step;                           // the variable of the loop over the steps
  const std::vector<ir::Buffer>& buffers;  // of its states: the first axis counts the steps
  const ir::arith::Ranges& ranges;         // of all variables of the loops
};

struct ScanWithBarriers {
  ir::Stmt loops;
  // Says that one block may read what another writes, which nothing within a kernel would order. To
  // be reported unless each step becomes a launch.
  std::optional<Diagnostic> across_blocks;
};

// Puts a barrier after each statement that writes elements which other threads of the block read,
// later in the same step or in a later one. There is none where each thread is known to read only
// what it wrote itself: for any two accesses of one element, one of which writes, the indices after
// the first are known to be those of one thread.
//
// `loops` are those of the scan, at stage Loops.
ScanWithBarriers insert_scan_barriers(const ir::Stmt& loops, const ScanResults& results);

// Whether blocks of one kernel of the plan may read what other blocks compute in the same step. The
// steps are loops of the plan, so that the results of earlier steps are there.
bool exchanges_across_blocks(const ir::Stmt& plan, const ScanResults& results);

}  // namespace texloom::lower
