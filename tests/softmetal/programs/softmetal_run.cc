// softmetal-run FILE.metal KERNEL ...: runs a kernel of a Metal program over arrays in files.
#include <cstdio>
#include <string>
#include <vector>

#include "tests/softmetal/programs/bindings.h"
#include "tests/softmetal/programs/constants.h"
#include "tests/softmetal/programs/options.h"
#include "tests/softmetal/programs/run_command.h"

namespace {

int complain(const std::string& problem) {
  std::fprintf(stderr, "softmetal-run: %s\n", problem.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  softmetal::RunCommand command;
  std::string problem, source, log;
  if (!softmetal::parse_run_command({argv + 1, argv + argc}, command, problem))
    return complain(problem);
  if (command.help) {
    std::fputs(softmetal::kRunUsage, stdout);
    return 0;
  }
  if (!softmetal::read_source(command.file, source, command.compile, problem))
    return complain(problem);
  const auto library = softmetal::Library::compile(source, command.compile, log);
  std::fputs(log.c_str(), stderr);
  if (library == nullptr) return 1;
  if (!softmetal::check_constants(*library, command.compile.constants, problem))
    return complain(problem);
  const auto function = library->function(command.kernel, problem);
  if (function == nullptr) return complain(problem);
  softmetal::Bindings bindings(*function, command);
  if (!bindings.bind(problem)) return complain(problem);
  const auto reports =
      softmetal::dispatch(*function, bindings.arguments(), command.grid, command.run);
  const std::string text = softmetal::print_reports(reports);
  std::fputs(text.c_str(), stderr);
  if (softmetal::has_errors(reports)) return 1;
  if (!bindings.write_back(problem)) return complain(problem);
  return 0;
}
