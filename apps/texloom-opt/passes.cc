#include "apps/texloom-opt/passes.h"

#include "codegen/opencl/legalize.h"
#include "lower/pipeline.h"

namespace texloom::opt {

std::vector<lower::Pass> all_passes() {
  std::vector<lower::Pass> passes(lower::pipeline().begin(), lower::pipeline().end());
  passes.push_back(codegen::opencl::legalize_pass());
  return passes;
}

std::optional<lower::Pass> find_pass(std::string_view name) {
  const std::vector<lower::Pass> passes = all_passes();
  const lower::Pass* found = lower::find_pass(passes, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace texloom::opt
