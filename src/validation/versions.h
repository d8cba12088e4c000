// Translation validation: runs a schedule as written, and the program after every pass, on the same
// inputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/report.h"
#include "ir/program.h"
#include "lower/lowering.h"
#include "support/function_ref.h"
#include "validation/invocation.h"

namespace texloom::validation {

// The results of one version of a program for a call.
struct Version {
  std::string_view pass;  // the pass that made it, or "unscheduled"
  std::vector<ir::Report> reports;
  std::string wrong_traffic;  // counted_traffic.h
  std::vector<Bytes> arrays;  // of all parameters, in their order
};

// Runs a program at any stage except te. The elements of outputs are undefined at first; the
// elements of a parameter that check_accesses added are 0. A texture whose origin is passed with a
// call is placed away from the corner of an image that is larger than the texture. Fails with
// InterpreterLimit.
Version run(const ir::Program& program, const Invocation& call, int64_t max_steps);

// Runs the computes as the user wrote them (validation/unscheduled.h), then the program after each
// row of the pipeline and of legalize. Verifies each version, and prints the last one as OpenCL C.
// Calls `see` with each version as soon as it has run, so that versions before a failing pass are
// reported. Throws the exceptions of passes. Skips a version
// * that is equal to the previous one;
// * between split_kernels and insert_barriers, when threads share memory without barriers;
// * before stage kernels, if threads need private memory around a loop over threads;
// * with foreign C text, which only a device can run. If only tensor intrinsics call the foreign
//   code, the unscheduled version does not call it and runs.
void run_versions(const lower::Lowering& lowering, const Invocation& call, int64_t max_steps,
                  FunctionRef<void(const Version&)> see);

}  // namespace texloom::validation
