#include "codegen/backend.h"

#include "codegen/msl/legalize.h"
#include "codegen/msl/msl_dialect.h"
#include "codegen/msl/print.h"
#include "codegen/opencl/legalize.h"
#include "codegen/opencl/opencl_dialect.h"
#include "codegen/opencl/print.h"
#include "lower/pipeline.h"
#include "support/check.h"

namespace texloom::codegen {

std::span<const Backend> backends() {
  static const Backend rows[] = {
      {ir::TargetKind::OpenCL, opencl::opencl_dialect, opencl::legalize_pass(), opencl::print},
      {ir::TargetKind::Metal, msl::msl_dialect, msl::legalize_pass(), msl::print},
  };
  return rows;
}

const Backend& backend_of(ir::TargetKind kind) {
  for (const Backend& row : backends()) {
    if (row.kind == kind) return row;
  }
  TL_UNREACHABLE("a kind of target without a backend");
}

std::vector<lower::Pass> all_passes(ir::TargetKind kind) {
  std::vector<lower::Pass> passes(lower::pipeline().begin(), lower::pipeline().end());
  passes.push_back(backend_of(kind).legalize);
  return passes;
}

}  // namespace texloom::codegen
