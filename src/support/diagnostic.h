// Diagnostics report errors in the user's program.
//
// Every diagnostic has a stable code from codes.def, the user's own file and line, one sentence
// that says what is wrong, and a `help:` line that says what to do. `fail` raises one as a
// UserError; a checker that can go on collects several in a DiagnosticSink first. Warnings are
// collected too and handed to the front end.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/source_location.h"

namespace texloom {

enum class Code {
#define TL_CODE(number, name, summary) name = number,
#include "support/codes.def"
#undef TL_CODE
};

// "TL2103"
std::string code_text(Code code);

// One row of codes.def, in order.
struct CodeInfo {
  Code code;
  std::string_view name;
  std::string_view summary;
};
std::span<const CodeInfo> all_codes();

enum class Severity { Error, Warning };

struct Diagnostic {
  Severity severity = Severity::Error;
  Code code;
  SourceLocation location;
  std::string message;             // lower case, without a final stop
  std::string help;                // what to do; never empty
  std::vector<std::string> notes;  // further facts: other lines, the failing directive
  // The text of the location's line. If empty, render() reads it from the file.
  std::string line_text = {};
};

// The text a user reads: severity and code, message, file and line with that line's text (when
// the file can be read) and a caret below its column, notes, help.
std::string render(const Diagnostic& diagnostic);
// The text without the file and the line, for callers that print these themselves (Python's
// warnings).
std::string render_without_location(const Diagnostic& diagnostic);

// Carries at least one diagnostic of severity Error.
class UserError : public std::exception {
 public:
  explicit UserError(std::vector<Diagnostic> diagnostics);
  const char* what() const noexcept override { return text_.c_str(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

[[noreturn]] void fail_with(Diagnostic diagnostic);

// fail(where, Code::UnknownScope, "help text", "unknown scope '{}'", name)
template <class... Args>
[[noreturn]] void fail(const SourceLocation& location, Code code, std::string help,
                       fmt::format_string<Args...> format, Args&&... args) {
  fail_with({Severity::Error,
             code,
             location,
             fmt::format(format, std::forward<Args>(args)...),
             std::move(help),
             {},
             {}});
}

// Collects diagnostics. A checker reports all that it finds, then calls throw_if_errors().
class DiagnosticSink {
 public:
  void report(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }
  // Reports the diagnostic that fail() would raise.
  template <class... Args>
  void error(const SourceLocation& location, Code code, std::string help,
             fmt::format_string<Args...> format, Args&&... args) {
    report({Severity::Error,
            code,
            location,
            fmt::format(format, std::forward<Args>(args)...),
            std::move(help),
            {},
            {}});
  }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace texloom
