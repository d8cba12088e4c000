#include "tests/softmetal/compile/generation.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/compile/scratch_folder.h"

namespace softmetal {
namespace {

// Returns clang's command line for bitcode. The flags of the language are not needed, nor is the
// sanitizer's: its calls are in the bitcode, and this runtime implements them. Optimizer passes
// have run already.
std::vector<std::string> generator_command() {
  std::vector<std::string> command = clang_command();
  const auto language = std::find(command.begin(), command.end(), "-x");
  if (language != command.end()) command.erase(language, language + 2);
  command.insert(command.end(),
                 {"-fno-sanitize=thread", "-Xclang", "-disable-llvm-passes", "-x", "ir",
                  "program.bc", "-x", "none", "-shared", "-o", "program.so",
                  build_file("runtime.o"), "-Wl,-Bsymbolic,--strip-all,--no-undefined", "-lm"});
  return command;
}

// Returns a readable message, if the linker's errors are about missing functions.
std::string link_problem(const std::string& errors) {
  static constexpr std::string_view kUndefined = "undefined reference to `";
  std::set<std::string> names;
  for (size_t at = errors.find(kUndefined); at != std::string::npos;
       at = errors.find(kUndefined, at)) {
    at += kUndefined.size();
    names.insert(errors.substr(at, errors.find('\'', at) - at));
  }
  if (names.empty()) return "no code can be generated:\n" + errors;
  std::string problem;
  for (const std::string& name : names) {
    problem +=
        (problem.empty() ? "" : "\n") + ("function \"" + name) + "\" is declared, but not defined";
  }
  return problem;
}

}  // namespace

std::vector<std::string> clang_command() {
  std::vector<std::string> command;
  std::ifstream flags(build_file("flags"));  // one flag per line, as for the precompiled header
  for (std::string flag; std::getline(flags, flag);) command.push_back(flag);
  return command;
}

std::string generate_module(const IntermediateCode& code, std::string& problem) {
  const std::string path = cached_path(code.key, ".so");
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  const ScratchFolder scratch;
  if (scratch.path().empty() || !write_file(scratch.path() + "/program.bc", code.bitcode)) {
    problem = "no temporary folder can be written";
    return "";
  }
  const ProcessResult linked = run_process(generator_command(), scratch.path());
  if (linked.status != 0) {
    problem = link_problem(linked.errors);
    return "";
  }
  problem = put_in_cache(scratch.path() + "/program.so", path);
  return problem.empty() ? path : "";
}

}  // namespace softmetal
