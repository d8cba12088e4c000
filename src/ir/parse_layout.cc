#include "ir/parse_layout.h"

#include <algorithm>
#include <array>

#include "support/check.h"

namespace texloom::ir {

LayoutParser::LayoutParser(TextReader& reader)
    : reader_(reader), start_(reader.peek()), lanes_token_(start_) {
  object();
  reader_.expect("[");
  axes();
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

void LayoutParser::axes() {
  reader_.expect("(");
  if (reader_.accept(")")) return;
  do {
    const NamedToken name = reader_.name("the name of an axis");
    std::vector<std::string>& names = pattern_.names;
    if (std::find(names.begin(), names.end(), name.name) != names.end()) {
      reader_.wrong(name.token, "name each axis once", "{} is there twice", name.token.text);
    }
    names.push_back(name.name);
    axis_tokens_.push_back(name.token);
  } while (reader_.accept(","));
  if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
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
      list(*lists[next].parts);
    }
    ++next;
  } while (reader_.accept(","));
}

void LayoutParser::list(LayoutParts& parts) {
  if (!reader_.accept("(")) {
    parts.push_back(part());
    return;
  }
  if (reader_.accept(")")) return;
  do {
    parts.push_back(part());
  } while (reader_.accept(","));
  if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
}

LayoutPart LayoutParser::part() {
  const NamedToken name = reader_.name("an axis");
  const auto found = std::find(pattern_.names.begin(), pattern_.names.end(), name.name);
  if (found == pattern_.names.end()) {
    reader_.wrong(name.token, "use the names in front of '->'", "there is no axis {}",
                  name.token.text);
  }
  LayoutPart part;
  part.axis = static_cast<int>(found - pattern_.names.begin());
  axis_tokens_[static_cast<size_t>(part.axis)] = name.token;
  if (reader_.accept("/")) part.divisor = reader_.integer("a divisor", 1, kMaxElements);
  part.extent = reader_.accept("%") ? reader_.integer("an extent", 1, kMaxElements) : kToTheEnd;
  return part;
}

void LayoutParser::padding() {
  if (reader_.accept_word("zero")) {
    pattern_.padding = Padding::Zero;
  } else if (!reader_.accept_word("undefined")) {
    reader_.fail_expected("'zero' or 'undefined'");
  }
}

Layout LayoutParser::bind(const Shape& shape) const {
  if (pattern_.names.size() != shape.size()) {
    reader_.wrong(start_, "name each axis of the shape", "the layout has {} axes, the shape {}",
                  pattern_.names.size(), shape.size());
  }
  Layout layout = layout_for(pattern_, shape);
  const std::optional<LayoutProblem> problem = find_problem(layout, pattern_.names);
  if (!problem) return layout;
  const Token& token = problem->axis    ? axis_tokens_[static_cast<size_t>(*problem->axis)]
                       : problem->lanes ? lanes_token_
                                        : start_;
  reader_.wrong(token, problem->help, "{}", problem->text);
}

}  // namespace texloom::ir
