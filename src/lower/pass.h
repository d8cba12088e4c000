// Defines the type of all passes, from a schedule to kernels that a printer can spell, and runs
// them.
#pragma once

#include <chrono>
#include <span>
#include <string_view>
#include <vector>

#include "lower/lowering.h"
#include "support/function_ref.h"

namespace texloom::lower {

// A row of a table of passes: either one function or a group of rows that run in order.
//
// A function gets its own row if it maps a whole program to a whole program, so that the text form
// (docs/text_form.md) expresses everything it passes to the next row. Then texloom-opt can start
// and stop there, the verifier can check the result, and the interpreter can run it. Steps that
// pass on more than text can express, such as the bounds and buffers of stages in
// lower/build/build_loops.cc, are parts of one row.
struct Pass {
  std::string_view name;   // of the function; a step is named "group.step"
  void (*run)(Lowering&);  // null for a group
  ir::ProgramStage in, out;
  std::string_view summary;
  std::span<const Pass> steps = {};  // of a group, in the order they run
  // Whether the resulting program still lacks barriers that its threads need.
  bool lacks_barriers = false;
};

// Makes a group of at least one step.
constexpr Pass group_of(std::string_view name, std::span<const Pass> steps,
                        std::string_view summary) {
  return {name,    nullptr, steps.front().in,           steps.back().out,
          summary, steps,   steps.back().lacks_barriers};
}

// Turns a rewrite of one kernel, callable with (ir::Kernel&, const ir::Target&), into a pass.
template <auto rewrite>
void in_each_kernel(Lowering& lowering) {
  for (ir::Kernel& kernel : lowering.program.kernels) rewrite(kernel, lowering.target);
}

// The rows of a table: each pass, a group before its steps.
std::vector<const Pass*> rows_of(std::span<const Pass> passes);

// The row with this name, or null.
const Pass* find_pass(std::span<const Pass> passes, std::string_view name);

// Called after each row: after each step of a group and after the group itself.
using PassObserver = FunctionRef<void(const Pass&, const Lowering&)>;

// How long a row took, without verification and observers; for a group, the sum of its steps.
struct PassTime {
  const Pass* pass = nullptr;
  std::chrono::duration<double, std::milli> took{};
};

// Runs one pass on a program of its input stage, without verification. Adds a note that names the
// pass to the diagnostics of a UserError.
void run_pass(const Pass& pass, Lowering& lowering);

// Runs passes; the program must be at the input stage of the first. Verifies the program after each
// row if lowering.verify_each is set, otherwise after the last one. Throws a UserError with a note
// that names the pass. Throws an InternalError for a bug in Texloom and dumps the program before
// the pass to a file (support/dump.h). If `times` is not null, it receives the rows that ran, in
// the order of rows_of().
void run_passes(std::span<const Pass> passes, Lowering& lowering, PassObserver observer,
                std::vector<PassTime>* times = nullptr);

// Throws an InternalError if the program breaks the rules of its stage or if its text does not read
// back as the same program. Stage te has no such rules, because the pass check_schedule checks the
// schedule.
void verify(const Lowering& lowering, bool check_accesses = true);

}  // namespace texloom::lower
