// texloom-opt: reads a program in the text form, runs passes over it, and prints it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace texloom::opt {

// Exit codes, for scripts.
enum ExitCode : int {
  kOk = 0,
  kWrongInput = 1,  // diagnostics are on `err`
  kUsage = 2,       // an option or a pass does not exist
  kBug = 3,         // a pass failed, or made a program that breaks the rules of the IR
};

// Runs main() with these arguments, without the program's name. Does not throw.
int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err);

}  // namespace texloom::opt
