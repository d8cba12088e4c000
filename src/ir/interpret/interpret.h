// The reference interpreter defines what programs mean, by running them slowly and exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "ir/interpret/access_count.h"
#include "ir/interpret/memory.h"
#include "ir/interpret/report.h"
#include "ir/program.h"

namespace texloom::ir {

struct InterpretOptions {
  size_t max_reports = 50;
  // Limits time and memory. A step is a statement, a thread, or an allocated element.
  int64_t max_steps = std::numeric_limits<int64_t>::max();
  // Is called every 65,536 steps, and may throw to end the run; null: is not called.
  std::function<void()> interruption = nullptr;
  AccessCounts* counts = nullptr;  // the accesses of kernels are added here; null: not counted
};

// Runs a program of any stage but te (validation/unscheduled.h makes a program from the computes of
// a schedule), and reports every fault that occurs (see ReportKind), once for each node, at its
// first occurrence. ir/interpret/value.h defines the arithmetic, ir/interpret/undefined.h the
// treatment of undefined values.
//
//   * Loops, Flattened: one runner executes all loops in order, including loops over threads. There
//     are no races, and barriers do nothing.
//   * Kernels, Legalized: executes the launch plan: the blocks of each kernel one by one, and
//     the threads of a block in turn, each up to the next barrier or shuffle. A barrier orders the
//     accesses of its block's threads to shared and global memory; nothing orders two blocks of a
//     launch but the tickets of a LastBlock. The interpreter keeps the counts of tickets itself,
//     and leaves the memory of counters alone.
//
// `arguments` are the places of the parameters, in order; one image may contain several textures.
// The caller owns the memory, which is updated in place. Elements that the caller has not written
// are undefined, and so are elements to which the program writes undefined values. A temporary
// texture is placed away from the corner of its image if its kernels get its origin.
//
// The program must have no symbols (instantiate.h replaces them by values) and keep the rules of
// ir/verify/verify.h. An argument must have its parameter's type and at least its size, and an
// origin only if the parameter has one. Otherwise an InternalError is thrown. Fails with
// InterpreterLimit after max_steps, and with NotInterpreted if there are foreign calls. Concurrent
// calls must not share arguments.
std::vector<Report> interpret(const Program& program, const std::vector<Placement>& arguments,
                              const InterpretOptions& options = {});

// One launch of a kernel by itself, as a device sees it.
struct LaunchArguments {
  std::array<int64_t, 3> blocks{1, 1, 1};
  std::vector<Placement> memory;  // for the buffers among the kernel's parameters, in their order
  std::vector<Scalar> scalars;    // for the scalars among the kernel's parameters, in their order
};

// Runs kernel number `kernel` of the program, at stage Kernels or Legalized. The scalars include
// the values of symbols; an array of symbolic extents has as many elements as its memory. A kernel
// may write undefined values, since several kernels may share temporaries, but undefined values
// that decide a branch or an index are reported. Requirements and failures are those of
// interpret().
std::vector<Report> interpret_launch(const Program& program, size_t kernel,
                                     const LaunchArguments& arguments,
                                     const InterpretOptions& options = {});

}  // namespace texloom::ir
