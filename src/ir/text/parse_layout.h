// Parses layouts, for declarations (ir/text/parse_buffer.h) and for `layout=`.
#pragma once

#include "ir/layout/layout_pattern.h"
#include "ir/text/parse_digits.h"

namespace texloom::ir {

// Reads
//   texture[(n, c, h, w) -> rows=(n, c/4, h), cols=(w), lanes=c%4, padding=zero]
// The names in front are the names of the axes, in order. An empty list may be left out, and so may
// the brackets of a list of one part.
class LayoutParser {
 public:
  // Reads a layout from the current word on. Fails as the TextReader does.
  explicit LayoutParser(TextReader& reader);

  const LayoutPattern& pattern() const { return pattern_; }
  // The layout for this shape. Fails with `code`, at the name of the axis or of the list at fault.
  Layout bind(const Shape& shape, Code code = Code::BadText) const;

 private:
  void object();
  void lists();
  void padding();

  TextReader& reader_;
  DigitParser digits_;
  LayoutPattern pattern_;
  Token start_, lanes_token_;
};

// Parses the `layout=` that a user gives a tensor of this shape. Fails at `where` with BadLayout,
// with a caret at the piece at fault.
LayoutPattern parse_layout(std::string_view text, const Shape& shape, const SourceLocation& where);

}  // namespace texloom::ir
