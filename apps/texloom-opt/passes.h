// The passes that texloom-opt knows, by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lower/lowering.h"

namespace texloom::opt {

struct NamedPass {
  std::string name;
  std::function<void(lower::Lowering&)> run;  // on a program of stage `in`; verifies nothing
  ir::ProgramStage in, out;
  std::string_view summary;
};

// Those of the pipeline; what a backend does behind it, `legalize`; and its steps one by one, as
// `legalize.split_lanes`.
std::vector<NamedPass> all_passes();

std::optional<NamedPass> find_pass(std::string_view name);

}  // namespace texloom::opt
