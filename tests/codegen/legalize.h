// A program at stage Kernels, legalized for a target.
#pragma once

#include <utility>

#include "codegen/backend.h"

namespace texloom::codegen::testing {

inline ir::Program legalize(const ir::Program& program, const ir::Target& target) {
  lower::Lowering lowering;
  lowering.program = program;
  lowering.target = target;
  lower::run_passes({&backend_of(target.kind).legalize, 1}, lowering,
                    [](const lower::Pass&, const lower::Lowering&) {});
  return std::move(lowering.program);
}

}  // namespace texloom::codegen::testing
