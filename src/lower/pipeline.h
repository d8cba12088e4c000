// From a schedule to kernels: the one list of passes.
#pragma once

#include <span>
#include <string_view>

#include "lower/lowering.h"
#include "support/function_ref.h"

namespace texloom::lower {

struct Pass {
  std::string_view name;
  void (*run)(Lowering&);
  ir::ProgramStage in, out;
  std::string_view summary;
};

// In the order they run.
std::span<const Pass> pipeline();

// Runs one pass on a program of its stage, and verifies nothing. UserErrors leave with a note that
// names the pass.
void run_pass(const Pass& pass, Lowering& lowering);

// Throws an InternalError when the program breaks the rules of its stage (of Te, where
// check_schedule is a pass, nothing is asked), or is not what its text says.
void verify(const Lowering& lowering, bool check_accesses = true);

// Called after each pass; may be empty.
using PassObserver = FunctionRef<void(const Pass&, const Lowering&)>;

// Runs these passes, of which the first takes a program of stage Te; the program is verified, after
// each pass or at the end. UserErrors leave with a note that names the pass, bugs of ours with a
// file that holds what the pass was given (support/dump.h).
Lowering run_passes(std::span<const Pass> passes, Lowering lowering, PassObserver observer);

// Runs the pipeline, but where a nest is bound to no thread only to the loops, at
// ProgramStage::Flattened: they can be read, and make_kernels refuses them.
Lowering lower_as_far_as_bound(Lowering lowering, PassObserver observer);

// The rest of the pipeline. Fails with UnboundStage where lower_as_far_as_bound stopped.
Lowering make_kernels(Lowering loops, PassObserver observer);

// Runs the pipeline. The result holds the program, at ProgramStage::Kernels, and the warnings.
Lowering lower(Lowering lowering, PassObserver observer);
Lowering lower(Lowering lowering);

}  // namespace texloom::lower
