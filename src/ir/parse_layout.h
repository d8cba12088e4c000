// Layouts in texts: for the parser of declarations (ir/parse_buffer.h) and for `layout=`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/layout_pattern.h"
#include "ir/text_reader.h"

namespace texloom::ir {

// Reads
//   texture[(n, c, h, w) -> rows=(n, c/4, h), cols=(w), lanes=c%4, padding=zero]
// The names stand for the axes, in order. A list may be left out when it is empty, its brackets
// when it has one part.
class LayoutParser {
 public:
  // Reads one from here on. Fails as the reader does.
  explicit LayoutParser(TextReader& reader);

  const LayoutPattern& pattern() const { return pattern_; }
  // Of this shape. Fails with BadText at the name of the axis or the list at fault.
  Layout bind(const Shape& shape) const;

 private:
  void object();
  void axes();
  void lists();
  void list(LayoutParts& parts);
  LayoutPart part();
  void padding();

  TextReader& reader_;
  LayoutPattern pattern_;
  Token start_;
  std::vector<Token> axis_tokens_;  // where each axis is named last
  Token lanes_token_;
};

}  // namespace texloom::ir
