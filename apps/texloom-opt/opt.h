// texloom-opt: reads a program in the text form, runs passes over it, and prints it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace texloom::opt {

// Runs main() with these arguments, without the program's name, and returns an ExitCode
// (apps/command_line). Does not throw.
int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err);

}  // namespace texloom::opt
