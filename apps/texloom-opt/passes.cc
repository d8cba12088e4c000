#include "apps/texloom-opt/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/command_line/command_line.h"
#include "codegen/backend.h"
#include "lower/pipeline.h"

namespace texloom::opt {

namespace {

constexpr std::string_view kLower = "lower";

// Names of the rows with functions.
std::vector<std::string_view> functions_of(std::span<const lower::Pass> passes) {
  std::vector<std::string_view> names;
  for (const lower::Pass* row : lower::rows_of(passes)) {
    if (row->run != nullptr) names.push_back(row->name);
  }
  return names;
}

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names = {kLower};
  for (const codegen::Backend& backend : codegen::backends()) {
    const std::vector<lower::Pass> passes = codegen::all_passes(backend.kind);
    for (const lower::Pass* row : lower::rows_of(passes)) {
      if (std::find(names.begin(), names.end(), row->name) == names.end()) {
        names.push_back(row->name);
      }
    }
  }
  return names;
}

std::vector<lower::Pass> passes_of(const std::vector<std::string>& names, ir::TargetKind kind) {
  const std::vector<lower::Pass> all = codegen::all_passes(kind);
  std::vector<lower::Pass> passes;
  for (const std::string& name : names) {
    if (name == kLower) {
      passes.insert(passes.end(), lower::pipeline().begin(), lower::pipeline().end());
      continue;
    }
    const lower::Pass* found = lower::find_pass(all, name);
    if (found == nullptr) {
      throw command_line::UsageError{
          fmt::format("targets of the kind {} have no pass '{}'", ir::to_string(kind), name)};
    }
    passes.push_back(*found);
  }
  return passes;
}

bool is_run_of_pipeline(std::span<const lower::Pass> passes, ir::ProgramStage begin,
                        ir::TargetKind kind) {
  const std::vector<lower::Pass> all = codegen::all_passes(kind);
  const auto first = std::find_if(all.begin(), all.end(),
                                  [&](const lower::Pass& pass) { return pass.in == begin; });
  const std::vector<std::string_view> wanted = functions_of({first, all.end()});
  const std::vector<std::string_view> given = functions_of(passes);
  return given.size() <= wanted.size() && std::equal(given.begin(), given.end(), wanted.begin());
}

}  // namespace texloom::opt
