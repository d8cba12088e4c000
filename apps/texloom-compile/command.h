// texloom-compile: reads a program in the text form and writes its kernels for a target.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace texloom::compile_command {

// Runs main() with these arguments, without the program's name, and returns an ExitCode
// (apps/command_line). Does not throw.
int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err);

}  // namespace texloom::compile_command
