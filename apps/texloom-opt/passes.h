// Lists the passes that texloom-opt can run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/target/target.h"
#include "lower/pass.h"

namespace texloom::opt {

// The names of all passes and steps, of every kind of target, and `lower`, which stands for all
// passes up to kernels.
std::vector<std::string_view> pass_names();

// The passes with these names for targets of a kind. Throws a UsageError for a name that only other
// kinds have.
std::vector<lower::Pass> passes_of(const std::vector<std::string>& names, ir::TargetKind kind);

// Whether the pipeline for a kind of target runs exactly these passes from the first that takes
// this stage on.
bool is_run_of_pipeline(std::span<const lower::Pass> passes, ir::ProgramStage begin,
                        ir::TargetKind kind);

}  // namespace texloom::opt
