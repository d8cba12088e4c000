// Axes with names, and digits of them, in texts: what layouts (ir/text/parse_layout.h) and index
// maps are written in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/layout/digits.h"
#include "ir/text/text_reader.h"

namespace texloom::ir {

// All that reads fails as the reader does.
class DigitParser {
 public:
  explicit DigitParser(TextReader& reader) : reader_(reader) {}

  // "(n, c, h, w)": the names stand for axes, in order.
  void axes();
  // "(n, c/4)"; of one digit also "c%4". Without a remainder its extent is kToTheEnd.
  LayoutParts digits();

  const std::vector<std::string>& names() const { return names_; }
  // Where the axis is named last.
  const Token& token_of(int axis) const { return tokens_[static_cast<size_t>(axis)]; }

 private:
  LayoutPart digit();

  TextReader& reader_;
  std::vector<std::string> names_;
  std::map<std::string, int> axis_of_;
  std::vector<Token> tokens_;  // by axis
};

}  // namespace texloom::ir
