#include "ir/text/parse_layout.h"

#include <fmt/format.h>

#include <array>

#include "support/check.h"

namespace texloom::ir {

LayoutParser::LayoutParser(TextReader& reader)
    : reader_(reader), digits_(reader), start_(reader.peek()), lanes_token_(start_) {
  object();
  reader_.expect("[");
  digits_.axes();
  pattern_.names = digits_.names();
  reader_.expect("->");
  lists();
  if (!reader_.accept("]")) reader_.fail_expected("',' or ']'");
}

void LayoutParser::object() {
  for (const MemoryObject object : {MemoryObject::Buffer, MemoryObject::Image2d,
                                    MemoryObject::Image2dArray, MemoryObject::Image1dBuffer}) {
    pattern_.object = object;
    if (reader_.accept_word(spelling(object))) return;
  }
  reader_.fail_expected("a layout: 'texture[...]' or 'buffer[...]'");
}

void LayoutParser::lists() {
  struct List {
    std::string_view word;
    LayoutParts* parts;
  };
  const std::array lists = {List{"rows", &pattern_.rows}, List{"cols", &pattern_.cols},
                            List{"lanes", &pattern_.lanes}, List{"padding", nullptr}};
  size_t next = 0;
  do {
    while (next < lists.size() && !reader_.at_word(lists[next].word)) ++next;
    if (next == lists.size()) {
      reader_.fail_expected("'rows', 'cols', 'lanes' and 'padding', in this order, each once");
    }
    const Token word = reader_.next();
    reader_.expect("=");
    if (lists[next].parts == nullptr) {
      padding();
    } else {
      if (lists[next].parts == &pattern_.lanes) lanes_token_ = word;
      *lists[next].parts = digits_.digits();
    }
    ++next;
  } while (reader_.accept(","));
}

void LayoutParser::padding() {
  if (reader_.accept_word("zero")) {
    pattern_.padding = Padding::Zero;
  } else if (!reader_.accept_word("undefined")) {
    reader_.fail_expected("'zero' or 'undefined'");
  }
}

Layout LayoutParser::bind(const Shape& shape, Code code) const {
  if (pattern_.names.size() != shape.size()) {
    reader_.fail_at(start_, code,
                    fmt::format("the layout has {} axes, but the shape has {}",
                                pattern_.names.size(), shape.size()),
                    "name each axis of the shape");
  }
  Layout layout = layout_for(pattern_, shape);
  const std::optional<LayoutProblem> problem = find_problem(layout, pattern_.names);
  if (!problem) return layout;
  const Token& token = problem->axis    ? digits_.token_of(*problem->axis)
                       : problem->lanes ? lanes_token_
                                        : start_;
  reader_.fail_at(token, code, problem->text, problem->help);
}

namespace {

// Shows the text of the layout, as a line, below the line of the user's program that contains it.
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
