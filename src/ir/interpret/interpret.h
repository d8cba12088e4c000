// The reference interpreter: what a program means, slowly and exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "ir/interpret/access_count.h"
#include "ir/interpret/memory.h"
#include "ir/interpret/report.h"
#include "ir/program.h"

namespace texloom::ir {

struct InterpretOptions {
  size_t max_reports = 50;
  // A step is a statement, a thread, or an element that is allocated: a bound for time and memory.
  int64_t max_steps = std::numeric_limits<int64_t>::max();
  AccessCounts* counts = nullptr;  // of kernels, added to what is there; null: not counted
};

// What it does: runs a program of any stage but te (of a schedule's computes,
// validation/unscheduled.h makes one), and reports every fault that shows (see ReportKind): once
// for each node that commits it, at its first occurrence. Arithmetic is that of
// ir/interpret/value.h; what becomes of undefined values is said in ir/interpret/undefined.h.
//
//   * Loops, Flattened: one runner goes through all loops in order, those over threads too. There
//     are no races, and barriers do nothing.
//   * Kernels, Legalized: the launch plan; of each kernel all blocks one after another, and all
//     threads of a block in turn, up to a barrier each. A barrier orders what the threads of its
//     block do to shared and to global memory; nothing orders two blocks of a launch.
//
// `arguments` are where the parameters lie, in their order; one image may hold several, and the
// caller keeps them. They are updated in place. Elements that the caller has not written count as
// undefined, and so does what the program left undefined in them. A temporary texture whose
// kernels are given its origin lies away from the corner of its image.
//
// The program has no symbols (symbols.h gives them values). It keeps the rules of
// ir/verify/verify.h, and an argument is of its parameter's type, at least as large, and has an
// origin only where the parameter does: else an InternalError is thrown. Fails with
// InterpreterLimit after max_steps, and with NotInterpreted where it has foreign calls. Not thread
// safe for arguments in common.
std::vector<Report> interpret(const Program& program, const std::vector<Placement>& arguments,
                              const InterpretOptions& options = {});

// One launch of a kernel by itself, as a device sees it.
struct LaunchArguments {
  std::array<int64_t, 3> blocks{1, 1, 1};
  std::vector<Placement> memory;  // of the buffers among the kernel's parameters, in their order
  std::vector<Scalar> scalars;    // the scalars among them
};

// Runs the program's kernel of this number, at stage Kernels or Legalized, with what
// InterpretOptions say. Values for symbols come with the scalars: an array of symbolic extents has
// as many elements as its memory. Undefined values that a kernel writes are its own business, since
// it may be one of several that share temporaries; where one decides something, that is reported.
// What arguments have to be, and failures, are as above.
std::vector<Report> interpret_launch(const Program& program, size_t kernel,
                                     const LaunchArguments& arguments,
                                     const InterpretOptions& options = {});

}  // namespace texloom::ir
