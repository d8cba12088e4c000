#include "support/diagnostic.h"

#include <algorithm>
#include <fstream>

#include "support/check.h"

namespace texloom {
namespace {

constexpr CodeInfo kCodes[] = {
#define TL_CODE(number, name, summary) {Code::name, #name, summary},
#include "support/codes.def"
#undef TL_CODE
};

// The text of one line of a file; empty if it cannot be read.
std::string line_of_file(const std::string& file, int line) {
  std::ifstream in(file);
  std::string text;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(in, text)) return {};
  }
  return text;
}

// The line without its indentation, with a caret below the column. Shortens a long line to the part
// around the column.
std::string excerpt(std::string_view line, int column) {
  constexpr size_t kWidth = 100;
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  // The column may be past the end: the file may have changed, or the line may end at a carriage
  // return.
  const size_t place = column > 0 ? std::min(static_cast<size_t>(column) - 1, line.size()) : begin;
  if (column > 0 && line.size() - begin > kWidth) {
    begin = std::max(begin, place > kWidth / 2 ? place - kWidth / 2 : 0);
    line = line.substr(0, begin + kWidth);
  }
  std::string text = fmt::format("   |  {}\n", line.substr(begin));
  if (column > 0 && place >= begin) {
    text += "   |  ";
    // Keep tabs, so that the caret is below its column.
    for (size_t i = begin; i < place; ++i) text += i < line.size() && line[i] == '\t' ? '\t' : ' ';
    text += "^\n";
  }
  return text;
}

// Names come from users: escape bytes that terminals do not show or that end a C string.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool shown = (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
    result += shown ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return result;
}

}  // namespace

std::string code_text(Code code) { return fmt::format("TL{:04}", static_cast<int>(code)); }

std::span<const CodeInfo> all_codes() { return kCodes; }

namespace {

std::string location_text(const Diagnostic& diagnostic) {
  const SourceLocation& where = diagnostic.location;
  if (!where.known()) return {};
  std::string text = fmt::format("  --> {}:{}", *where.file, where.line);
  if (where.column > 0) text += fmt::format(":{}", where.column);
  text += "\n";
  return text + excerpt(diagnostic.line_text.empty() ? line_of_file(*where.file, where.line)
                                                     : diagnostic.line_text,
                        where.column);
}

std::string render_at(const Diagnostic& diagnostic, const std::string& location) {
  std::string text =
      fmt::format("{}[{}]: {}\n", diagnostic.severity == Severity::Error ? "error" : "warning",
                  code_text(diagnostic.code), printable(diagnostic.message));
  text += location;
  for (const std::string& note : diagnostic.notes) {
    text += fmt::format("  note: {}\n", printable(note));
  }
  text += fmt::format("  help: {}", printable(diagnostic.help));
  return text;
}

}  // namespace

std::string render(const Diagnostic& diagnostic) {
  return render_at(diagnostic, location_text(diagnostic));
}

std::string render_without_location(const Diagnostic& diagnostic) {
  return render_at(diagnostic, {});
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
