// The second half of a compilation: generates a shared object from the first half's code, as a
// GPU's compiler does when a pipeline is created.
#pragma once

#include <string>
#include <vector>

namespace softmetal {

// The result of the first half, like the AIR of Metal's compiler.
struct IntermediateCode {
  std::string key;      // of this code and its module; equal code has equal keys
  std::string bitcode;  // LLVM's
};

// Returns clang's command line with the flags of all programs.
std::vector<std::string> clang_command();

// Returns the path of the shared object, which is generated unless the cache has it. On failure,
// returns an empty path and sets `problem`.
std::string generate_module(const IntermediateCode& code, std::string& problem);

}  // namespace softmetal
