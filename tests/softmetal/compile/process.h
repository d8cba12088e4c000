// Runs a program and takes what it prints.
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
// How many this process has run, for tests of what needs no compiler.
uint64_t processes_run();

}  // namespace softmetal
