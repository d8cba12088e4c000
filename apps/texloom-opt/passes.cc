#include "apps/texloom-opt/passes.h"

#include <algorithm>

#include "codegen/backend.h"

namespace texloom::opt {

std::vector<lower::Pass> all_passes() { return codegen::all_passes(ir::Target{}.kind); }

namespace {

// Names of the rows with functions.
std::vector<std::string_view> names_of(std::span<const lower::Pass> passes) {
  std::vector<std::string_view> names;
  for (const lower::Pass* row : lower::rows_of(passes)) {
    if (row->run != nullptr) names.push_back(row->name);
  }
  return names;
}

}  // namespace

bool is_run_of_pipeline(std::span<const lower::Pass> passes, ir::ProgramStage begin) {
  const std::vector<lower::Pass> all = all_passes();
  const auto first = std::find_if(all.begin(), all.end(),
                                  [&](const lower::Pass& pass) { return pass.in == begin; });
  const std::vector<std::string_view> wanted = names_of({first, all.end()});
  const std::vector<std::string_view> given = names_of(passes);
  return given.size() <= wanted.size() && std::equal(given.begin(), given.end(), wanted.begin());
}

std::optional<lower::Pass> find_pass(std::string_view name) {
  const std::vector<lower::Pass> passes = all_passes();
  const lower::Pass* found = lower::find_pass(passes, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace texloom::opt
