#include "ir/layout_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/parse_layout.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

// Shows the words of a layout, which stand in a string, below the line of the user's program.
[[noreturn]] void fail_in(const Diagnostic& found, const SourceLocation& where) {
  constexpr size_t kNoteIndent = 8;  // "  note: "
  const auto caret = kNoteIndent + static_cast<size_t>(found.location.column) - 1;
  Diagnostic shown{Severity::Error, Code::BadLayout, where, found.message, found.help, {}};
  shown.notes.push_back(fmt::format("{}\n{:{}}^", found.line_text, "", caret));
  fail_with(std::move(shown));
}

void check_divisions(std::string_view text, const SourceLocation& where) {
  if (text.find("//") == text.npos) return;
  fail(where, Code::BadLayout, "write a quotient as c/4, a remainder as c%4",
       "the layout '{}' has a '//'", text);
}

}  // namespace

Layout layout_for(const LayoutPattern& pattern, const Shape& shape) {
  TL_CHECK(pattern.names.size() == shape.size());
  Layout layout;
  layout.shape = shape;
  layout.object = pattern.object;
  layout.padding = pattern.padding;
  layout.rows = with_extents(pattern.rows, shape);
  layout.cols = with_extents(pattern.cols, shape);
  layout.lanes = with_extents(pattern.lanes, shape);
  return layout;
}

LayoutPattern pattern_of(const Layout& layout, std::vector<std::string> names) {
  LayoutPattern pattern{std::move(names), layout.rows,   layout.cols,
                        layout.lanes,     layout.object, layout.padding};
  for (LayoutParts* parts : {&pattern.rows, &pattern.cols, &pattern.lanes}) {
    for (LayoutPart& part : *parts) part = open_ended(part, layout.shape);
  }
  return pattern;
}

std::string to_string(const LayoutPattern& pattern) {
  std::vector<std::string> names, lists;
  for (const std::string& name : pattern.names) names.push_back(spell_name(name));
  const auto list = [&](std::string_view word, const LayoutParts& parts) {
    // A buffer has columns alone.
    const bool only_cols = pattern.object == MemoryObject::Buffer && word != "cols";
    if (only_cols && parts.empty()) return;
    std::vector<std::string> texts;
    for (const LayoutPart& part : parts) {
      texts.push_back(to_string(part, names[static_cast<size_t>(part.axis)]));
    }
    lists.push_back(fmt::format("{}=({})", word, fmt::join(texts, ", ")));
  };
  list("rows", pattern.rows);
  list("cols", pattern.cols);
  list("lanes", pattern.lanes);
  if (pattern.padding == Padding::Zero) lists.emplace_back("padding=zero");
  return fmt::format("{}[({}) -> {}]", spelling(pattern.object), fmt::join(names, ", "),
                     fmt::join(lists, ", "));
}

LayoutPattern parse_layout(std::string_view text, const Shape& shape, const SourceLocation& where) {
  check_divisions(text, where);
  try {
    TextReader reader(text, "layout");
    const LayoutParser parser(reader);
    if (reader.peek().kind != TokenKind::End) reader.fail_expected("the end of the layout");
    parser.bind(shape);
    return parser.pattern();
  } catch (const UserError& error) {
    fail_in(error.diagnostics().front(), where);
  }
}

}  // namespace texloom::ir
