// What a schedule computes as it stands, and after every pass: translation validation, by running
// the versions of a program on the same inputs.
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

// What one version of a program made of a call.
struct Version {
  std::string_view pass;  // that made it, or "unscheduled"
  std::vector<ir::Report> reports;
  std::string wrong_traffic;  // counted_traffic.h
  std::vector<Bytes> arrays;  // of all parameters, in their order
};

// Runs a program of any stage but te. The elements of outputs are undefined at first, those of what
// check_accesses added to the parameters 0. Textures
// whose origin is given at a call lie away from the corner of an image that is larger than they
// are. Fails with InterpreterLimit.
Version run(const ir::Program& program, const Invocation& call, int64_t max_steps);

// Runs the computes as the user wrote them (lower/unscheduled.h), then what each pass of the
// pipeline and each step of OpenCL's legalisation makes of the schedule. A version equal to the one
// before it is not run again; nor is that between split_kernels and insert_barriers, in which
// threads share memory with no barriers yet; nor, before kernels, one in which each thread needs
// memory of its own around a loop over threads; nor one with foreign C text, of which the
// unscheduled version, where a schedule brings in the intrinsics that call it, is all that runs.
// `see` gets each version when it has run, so that what
// a later pass breaks leaves those before it known; each is verified, and the last one printed as
// OpenCL C. Throws what passes throw.
void run_versions(const lower::Lowering& lowering, const Invocation& call, int64_t max_steps,
                  FunctionRef<void(const Version&)> see);

}  // namespace texloom::validation
