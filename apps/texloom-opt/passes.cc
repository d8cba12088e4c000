#include "apps/texloom-opt/passes.h"

#include "codegen/backend.h"

namespace texloom::opt {

std::vector<lower::Pass> all_passes() { return codegen::all_passes(ir::Target{}.kind); }

std::optional<lower::Pass> find_pass(std::string_view name) {
  const std::vector<lower::Pass> passes = all_passes();
  const lower::Pass* found = lower::find_pass(passes, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace texloom::opt
