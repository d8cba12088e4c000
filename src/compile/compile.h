// The compiler's entry point: compiles a program for its target to a module.
#pragma once

#include <memory>
#include <optional>

#include "compile/module.h"
#include "lower/lowering.h"
#include "support/function_ref.h"

namespace texloom::compile {

// A program at any stage with its target. At stage te it is a schedule with its arguments.
struct SourceProgram {
  std::shared_ptr<const lower::Lowering> state;
  // The schedule that `state` was lowered from, so that it can be lowered again for another target
  // or with checks; null if it is not known.
  std::shared_ptr<const lower::Lowering> scheduled = {};
};

// The schedule for another target, at stage te; nullopt if the schedule is not known.
std::optional<SourceProgram> for_target(const SourceProgram& program, ir::Target target);

struct CompileOptions {
  // Kernels test every index that is not proven to be in range (lower/loops/check_accesses.h).
  bool checked = false;
  // Verify the program after every pass, not only after the last one.
  bool verify_each = false;
  // The location of the user's call, for diagnostics about the program as a whole.
  SourceLocation location = {};
};

// Called between passes and between kernels. An exception that it throws ends the compilation.
using Interruption = FunctionRef<void()>;

// A copy of the schedule, ready to be lowered. Fails with BadArguments for a program at a later
// stage.
lower::Lowering schedule_of(const SourceProgram& program, const CompileOptions& options);

// Lowers a schedule to kernels, or a program at stage Flattened if indices need no tests. Fails
// like schedule_of() and the passes.
lower::Lowering lower_to_kernels(const SourceProgram& program, const CompileOptions& options,
                                 Interruption interruption);

// Lowers the program if it has no kernels yet, and generates code for its target. Needs no device.
// Fails like lower_to_kernels() and generate(), and with BadArguments if no argument gives a symbol
// its value.
CompiledModule compile(const SourceProgram& program, const CompileOptions& options,
                       Interruption interruption);
CompiledModule compile(const SourceProgram& program, const CompileOptions& options = {});

// Only generates code: `kernels` is at stage Kernels. Fails with UnsupportedType. On an internal
// error, the program is dumped to a file (support/dump.h).
CompiledModule generate(lower::Lowering kernels, Interruption interruption);
// Like the function above, for a program whose call arguments are not known.
CompiledModule generate(const ir::Program& program, const ir::Target& target);

}  // namespace texloom::compile
