// The steps of a scan in one kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/buffer.h"
#include "ir/stmt.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// What a scan's steps write, and read in later ones.
struct ScanResults {
  const std::string& name;                 // of the scan
  ir::Expr step;                           // the variable of the loop over the steps
  const std::vector<ir::Buffer>& buffers;  // of its states: the first axis counts the steps
  const ir::arith::Ranges& ranges;         // of all variables of the loops
};

struct SeparatedSteps {
  ir::Stmt loops;
  // Where what one block writes may be read by another: nothing within a kernel would order the
  // two. To be reported unless each step becomes a launch.
  std::optional<Diagnostic> across_blocks;
};

// Puts a barrier behind what writes elements that other threads of the block read, in a later step
// or further on in the same one. There is none where each thread is known to read only what it
// wrote itself: where any two accesses, one of which writes, meet in one element, the axes behind
// the first say which thread it is.
//
// `loops` are those of the scan, at stage Loops.
SeparatedSteps separate_steps(const ir::Stmt& loops, const ScanResults& results);

// Whether blocks of one kernel of the plan may read from one another what a step computes. Where
// the steps are loops of the plan: what earlier steps computed is there.
bool exchanges_across_blocks(const ir::Stmt& plan, const ScanResults& results);

}  // namespace texloom::lower
