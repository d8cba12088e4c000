#include "ir/parse_layout.h"

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
    reader_.fail_at(
        start_, code,
        fmt::format("the layout has {} axes, the shape {}", pattern_.names.size(), shape.size()),
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

}  // namespace texloom::ir
