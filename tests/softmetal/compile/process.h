// Runs a program and captures its output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softmetal {

struct ProcessResult {
  int status = -1;  // the exit status; -1 if it did not start or was killed
  std::string out, errors;
};

// Runs `arguments` in `folder`, which must exist.
ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& folder);
// Returns the number of programs that this process has run, for tests that expect no compilation.
uint64_t processes_run();

}  // namespace softmetal
