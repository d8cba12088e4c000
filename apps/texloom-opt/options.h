// Parses the command line of texloom-opt.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/texloom-opt/passes.h"

namespace texloom::opt {

// The text that --help prints.
extern const std::string_view kHelp;

struct Options {
  std::string file;                       // "-": standard input
  std::vector<std::string> passes;        // known to some kind of target
  std::vector<std::string> graph_passes;  // of programs at stage graph
  std::vector<std::string> print_after;   // names of rows, or "all"
  std::optional<std::string> target;      // default: the program's own, or "opencl"
  bool split_input = false, verify_each = false, verify_diagnostics = false;
  bool time_passes = false, list_passes = false, locations = false, help = false;
  std::optional<std::string> emit;  // sources for this kind of target
  bool interpret = false, one_image = false;
  std::map<std::string, int64_t> symbols;  // for --interpret
  int64_t seed = 0;
  int64_t max_steps = 10'000'000;
};

// `arguments` exclude the program's name. Throws a UsageError (apps/command_line).
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace texloom::opt
