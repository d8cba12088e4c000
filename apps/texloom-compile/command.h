// texloom-compile: reads a program in the text form and writes its kernels for a target.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace texloom::compile_command {

// The same exit codes as those of texloom-opt.
enum ExitCode : int {
  kOk = 0,
  kWrongInput = 1,  // diagnostics are on `err`
  kUsage = 2,       // an unknown option, or a file that cannot be read or written
  kBug = 3,         // the compiler failed
};

// Runs main() with these arguments, without the program's name. Does not throw.
int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err);

}  // namespace texloom::compile_command
