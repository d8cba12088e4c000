// The table of backends: how programs become kernels for each kind of target.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/c/printed_kernel.h"
#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "lower/pass.h"

namespace texloom::codegen {

// A new backend is a new row in backend.cc, and one in compile/source_format.cc for the runtime.
struct Backend {
  ir::TargetKind kind;
  // What the kernel language can express on a target of this kind.
  Dialect (*dialect)(const ir::Target& target);
  // From stage Kernels to stage Legalized, for targets of this kind. Fails with UnsupportedType.
  const lower::Pass& legalize;
  // Spells a kernel of a legalized program, with the program's foreign text before it.
  PrintedKernel (*print)(const ir::Kernel& kernel, const std::vector<std::string>& foreign,
                         const ir::Target& target);
};

std::span<const Backend> backends();
const Backend& backend_of(ir::TargetKind kind);

// Every pass for targets of this kind, in the order they run: the pipeline, then legalize.
std::vector<lower::Pass> all_passes(ir::TargetKind kind);

}  // namespace texloom::codegen
