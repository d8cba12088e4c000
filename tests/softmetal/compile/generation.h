// The second half of a compilation: the shared object of what the first half made, as a GPU's
// compiler generates code when a pipeline is made.
#pragma once

#include <string>
#include <vector>

namespace softmetal {

// What the first half makes of a program, as Metal's compiler makes AIR.
struct IntermediateCode {
  std::string key;      // names it, and what is generated from it: two that are equal have one
  std::string bitcode;  // of LLVM
};

// clang with the flags that all programs have.
std::vector<std::string> clang_command();

// The path of the shared object, which is generated unless the cache has it. Empty with `problem`
// if it cannot be.
std::string generate_module(const IntermediateCode& code, std::string& problem);

}  // namespace softmetal
