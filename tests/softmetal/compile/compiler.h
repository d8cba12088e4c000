// The first half of a compilation: preprocessor, token pass, and clang down to bitcode. It gives
// all messages about the source; generation.h has the second half.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/softmetal/compile/generation.h"
#include "tests/softmetal/source/program.h"

namespace softmetal {

enum class MathMode { Safe, Relaxed, Fast };

struct CompileOptions {
  int version = 320;                    // of the language: 320 is 3.2
  MathMode math_mode = MathMode::Safe;  // Relaxed and Fast may contract to fma
  std::map<std::string, std::string> macros;
  std::map<int, std::string> constants;  // values of function constants, as C++ expressions
  std::string file = "program_source";   // the name of the source in messages
  std::vector<std::string> include_folders;
};

struct Compilation {
  bool ok = false;
  std::string preprocessed;  // the source without its macros
  Program program;
  IntermediateCode code;
  std::string log;  // all messages, with lines of the source
  std::vector<Message> messages;
};

Compilation compile_source(const std::string& source, const CompileOptions& options);
// Compiles for other values of function constants; the source was preprocessed before.
Compilation specialize(const std::string& preprocessed, const std::string& source,
                       const CompileOptions& options);

// Restores an earlier compilation from its code; only the token pass runs.
Compilation restore(const std::string& preprocessed, const CompileOptions& options,
                    IntermediateCode code);

}  // namespace softmetal
