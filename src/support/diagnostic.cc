#include "support/diagnostic.h"

#include <fstream>

#include "support/check.h"

namespace texloom {
namespace {

constexpr CodeInfo kCodes[] = {
#define TL_CODE(number, name, summary) {Code::name, #name, summary},
#include "support/codes.def"
#undef TL_CODE
};

// The text of one line of a file; empty when it cannot be read.
std::string line_of_file(const std::string& file, int line) {
  std::ifstream in(file);
  std::string text;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(in, text)) return {};
  }
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin);
}

}  // namespace

std::string code_text(Code code) { return fmt::format("TL{:04}", static_cast<int>(code)); }

std::span<const CodeInfo> all_codes() { return kCodes; }

std::string render(const Diagnostic& diagnostic) {
  std::string text =
      fmt::format("{}[{}]: {}\n", diagnostic.severity == Severity::Error ? "error" : "warning",
                  code_text(diagnostic.code), diagnostic.message);
  const SourceLocation& where = diagnostic.location;
  if (where.known()) {
    text += fmt::format("  --> {}:{}\n", *where.file, where.line);
    const std::string line = line_of_file(*where.file, where.line);
    if (!line.empty()) text += fmt::format("   |  {}\n", line);
  }
  for (const std::string& note : diagnostic.notes) text += fmt::format("  note: {}\n", note);
  text += fmt::format("  help: {}", diagnostic.help);
  return text;
}

UserError::UserError(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  TL_CHECK(!diagnostics_.empty());
  for (const Diagnostic& diagnostic : diagnostics_) {
    if (!text_.empty()) text_ += "\n";
    text_ += render(diagnostic);
  }
}

void fail_with(Diagnostic diagnostic) {
  throw UserError(std::vector<Diagnostic>{std::move(diagnostic)});
}

void DiagnosticSink::throw_if_errors() const {
  for (const Diagnostic& diagnostic : diagnostics_) {
    if (diagnostic.severity == Severity::Error) throw UserError(diagnostics_);
  }
}

}  // namespace texloom
