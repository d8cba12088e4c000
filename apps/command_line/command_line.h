// Shared parts of the command-line tools: exit codes, errors, and the reading of programs.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "lower/lowering.h"
#include "support/function_ref.h"

namespace texloom::command_line {

// The exit codes of the tools, which scripts may test.
enum ExitCode : int {
  kOk = 0,
  kWrongInput = 1,  // diagnostics are on standard error
  kUsage = 2,       // an unknown option or pass, or a file that cannot be read or written
  kBug = 3,         // Texloom failed
};

// Thrown for a command line that a tool does not take.
struct UsageError {
  std::string message;
};

// Returns the exit code of `run` if all its output to `out` was written. If a write failed, or
// `run` throws, prints the error on `err` and returns the exit code for the error.
ExitCode report_errors(std::string_view tool, FunctionRef<ExitCode()> run, std::ostream& out,
                       std::ostream& err);

// The text of a file, or of `in` if the name is "-". Throws a UsageError.
std::string read_text(const std::string& file, std::istream& in);

// Writes a file, or to `out` if the name is "-". An existing file is replaced only when the text is
// complete. Throws a UsageError.
void write_text(const std::string& file, std::string_view text, std::ostream& out);

// The file's name in diagnostics.
std::string shown_name(const std::string& file);

// Parses a program in the text form for `target`, if one is given. Otherwise a program at stage te
// names its own target, and other programs are for "opencl". Fails like parse_target() and
// parse_lowering().
lower::Lowering parse_program(const std::string& text, const std::string& file,
                              const std::optional<std::string>& target, bool check_accesses = true);

}  // namespace texloom::command_line
