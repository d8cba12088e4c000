// Parses named axes and their digits, for layouts (ir/text/parse_layout.h) and index maps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/layout/digits.h"
#include "ir/text/text_reader.h"

namespace texloom::ir {

// Every function that reads fails as the TextReader does.
class DigitParser {
 public:
  explicit DigitParser(TextReader& reader) : reader_(reader) {}

  // "(n, c, h, w)": names the axes, in order.
  void axes();
  // "(n, c/4)", or "c%4" for one digit. A digit without a remainder gets the extent kToTheEnd.
  LayoutParts digits();

  const std::vector<std::string>& names() const { return names_; }
  // The last place where the axis is named.
  const Token& token_of(int axis) const { return tokens_[static_cast<size_t>(axis)]; }

 private:
  LayoutPart digit();

  TextReader& reader_;
  std::vector<std::string> names_;
  std::map<std::string, int> axis_of_;
  std::vector<Token> tokens_;  // the last token that names each axis
};

}  // namespace texloom::ir
