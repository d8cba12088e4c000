// The command line of softmetal-run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/softmetal/execute/dispatch.h"

namespace softmetal {

struct RunCommand {
  std::string file, kernel;
  CompileOptions compile;
  RunOptions run;
  Grid grid;
  std::map<int, std::string> buffers, bytes, threadgroups, textures, samplers;
  std::map<int, std::vector<std::string>> argument_buffers;
  bool help = false;
};

extern const char* const kRunUsage;

// False with `problem`.
bool parse_run_command(const std::vector<std::string>& arguments, RunCommand& command,
                       std::string& problem);

}  // namespace softmetal
