#include "ir/text/parse_digits.h"

namespace texloom::ir {

void DigitParser::axes() {
  reader_.expect("(");
  if (reader_.accept(")")) return;
  do {
    const NamedToken name = reader_.name("the name of an axis");
    if (!axis_of_.try_emplace(name.name, static_cast<int>(names_.size())).second) {
      reader_.wrong(name.token, "name each axis once", "{} is named twice", name.token.text);
    }
    names_.push_back(name.name);
    tokens_.push_back(name.token);
  } while (reader_.accept(","));
  if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
}

LayoutParts DigitParser::digits() {
  if (!reader_.accept("(")) return {digit()};
  LayoutParts parts;
  if (reader_.accept(")")) return parts;
  do {
    parts.push_back(digit());
  } while (reader_.accept(","));
  if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
  return parts;
}

LayoutPart DigitParser::digit() {
  const NamedToken name = reader_.name("an axis");
  const auto found = axis_of_.find(name.name);
  if (found == axis_of_.end()) {
    reader_.wrong(name.token, "use the names before '->'", "there is no axis {}", name.token.text);
  }
  LayoutPart part;
  part.axis = found->second;
  tokens_[static_cast<size_t>(part.axis)] = name.token;
  if (reader_.accept("/")) part.divisor = reader_.integer("a divisor", 1, kMaxElements);
  part.extent = reader_.accept("%") ? reader_.integer("an extent", 1, kMaxElements) : kToTheEnd;
  return part;
}

}  // namespace texloom::ir
