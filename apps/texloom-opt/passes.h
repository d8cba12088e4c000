// Lists the passes that texloom-opt can run.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lower/pass.h"

namespace texloom::opt {

// The passes of the pipeline, then `legalize` for the default kind of target.
std::vector<lower::Pass> all_passes();

// Whether the pipeline runs exactly these passes from the first that takes this stage on.
bool is_run_of_pipeline(std::span<const lower::Pass> passes, ir::ProgramStage begin);

// Finds a pass or a step, such as `legalize.split_lanes`; nullopt if there is none.
std::optional<lower::Pass> find_pass(std::string_view name);

}  // namespace texloom::opt
