// One type for all passes, from a schedule to kernels that a printer can spell, and their runner.
#pragma once

#include <chrono>
#include <span>
#include <string_view>
#include <vector>

#include "lower/lowering.h"
#include "support/function_ref.h"

namespace texloom::lower {

// A row of a table of passes: one function, or a group of rows that run one after the other.
//
// A function is a row of its own if it takes a whole program and leaves a whole program, so that
// the text form (docs/text_form.md) holds all that it hands to the next row. Then texloom-opt can
// start and stop there, the verifier can check the result, and the interpreter can run it. What
// hands over more than a text holds, such as the bounds and the buffers of stages in
// lower/build/build_loops.cc, is a part of one row.
struct Pass {
  std::string_view name;   // of the function; that of a step begins with its group's: "group.step"
  void (*run)(Lowering&);  // null for a group
  ir::ProgramStage in, out;
  std::string_view summary;
  std::span<const Pass> steps = {};  // of a group, in the order they run
};

// A group of at least one step.
constexpr Pass group_of(std::string_view name, std::span<const Pass> steps,
                        std::string_view summary) {
  return {name, nullptr, steps.front().in, steps.back().out, summary, steps};
}

// Makes a pass of a rewrite of one kernel, a callable with (ir::Kernel&, const ir::Target&).
template <auto rewrite>
void in_each_kernel(Lowering& lowering) {
  for (ir::Kernel& kernel : lowering.program.kernels) rewrite(kernel, lowering.target);
}

// The rows of a table: each pass, a group before its steps.
std::vector<const Pass*> rows_of(std::span<const Pass> passes);

// The row of this name, or null.
const Pass* find_pass(std::span<const Pass> passes, std::string_view name);

// Called after each row that has run, after a group as well as after each of its steps.
using PassObserver = FunctionRef<void(const Pass&, const Lowering&)>;

// How long a row took, without verification and observers: a group as long as its steps.
struct PassTime {
  const Pass* pass = nullptr;
  std::chrono::duration<double, std::milli> took{};
};

// Runs one pass on a program of its stage and verifies nothing. Adds a note that names the pass to
// the diagnostics of a UserError.
void run_pass(const Pass& pass, Lowering& lowering);

// Runs passes, the first of which takes the program at its stage. Verifies the program after each
// row if lowering.verify_each is set, else after the last one. Throws a UserError with a note that
// names the pass. Throws an InternalError for a bug of ours, with a file that holds the program
// before the pass (support/dump.h). If `times` is given, it gets the rows that ran, in the order of
// rows_of().
void run_passes(std::span<const Pass> passes, Lowering& lowering, PassObserver observer,
                std::vector<PassTime>* times = nullptr);

// Throws an InternalError when the program breaks the rules of its stage, or when its text does not
// read back as the same program. Stage te has no rules; check_schedule is the pass that checks it.
void verify(const Lowering& lowering, bool check_accesses = true);

}  // namespace texloom::lower
