#include "codegen/backend.h"

#include <algorithm>
#include <array>

#include "codegen/msl/emit.h"
#include "codegen/msl/legalize.h"
#include "codegen/msl/msl_dialect.h"
#include "codegen/opencl/emit.h"
#include "codegen/opencl/legalize.h"
#include "codegen/opencl/opencl_dialect.h"
#include "lower/pipeline.h"
#include "support/check.h"

namespace texloom::codegen {

std::span<const Backend> backends() {
  static constexpr std::array kOpenCl = {KernelFormat::OpenClC};
  static constexpr std::array kMetal = {KernelFormat::Msl};
  static const Backend rows[] = {
      {ir::TargetKind::OpenCL, "opencl", kOpenCl, opencl::opencl_dialect, opencl::legalize_pass(),
       opencl::emit},
      {ir::TargetKind::Metal, "metal", kMetal, msl::msl_dialect, msl::legalize_pass(), msl::emit},
  };
  return rows;
}

const Backend& backend_of(ir::TargetKind kind) {
  for (const Backend& row : backends()) {
    if (row.kind == kind) return row;
  }
  TL_UNREACHABLE("a kind of target without a backend");
}

const Backend* find_backend(std::string_view kind) {
  for (const Backend& row : backends()) {
    if (to_string(row.kind) == kind) return &row;
  }
  return nullptr;
}

bool has_backend(std::string_view driver) {
  return std::ranges::find(backends(), driver, &Backend::driver) != backends().end();
}

std::vector<lower::Pass> all_passes(ir::TargetKind kind) {
  std::vector<lower::Pass> passes(lower::pipeline().begin(), lower::pipeline().end());
  passes.push_back(backend_of(kind).legalize);
  return passes;
}

}  // namespace texloom::codegen
