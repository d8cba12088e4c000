#include "ir/layout/layout_pattern.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/text/parse_layout.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

LayoutPattern parse(std::string_view text, const Shape& shape) {
  return parse_layout(text, shape, SourceLocation::make("a.py", 6));
}

std::string bound(std::string_view text, const Shape& shape) {
  return to_string(layout_for(parse(text, shape), shape));
}

TEST(LayoutPattern, AsUsersWriteIt) {
  EXPECT_EQ(bound("texture[(n, c, h, w) -> rows=(n, c/4, h), cols=(w), lanes=c%4]", {1, 6, 5, 7}),
            "texture[(d0, d1, d2, d3) -> rows=(d0, d1/4, d2), cols=(d3), lanes=(d1%4)]");
  EXPECT_EQ(bound("texture[(n,h,w,c)->rows=(n,h%32),cols=(h/32,w),lanes=c]", {1, 64, 3, 4}),
            "texture[(d0, d1, d2, d3) -> rows=(d0, d1%32), cols=(d1/32, d2), lanes=(d3)]");
  EXPECT_EQ(bound("texture[(a) -> lanes=a, padding=zero]", {4}),
            "texture[(d0) -> rows=(), cols=(), lanes=(d0), padding=zero]");
  EXPECT_EQ(bound("texture[(a) -> lanes=a, padding=undefined]", {4}),
            "texture[(d0) -> rows=(), cols=(), lanes=(d0)]");
  EXPECT_EQ(bound("buffer[(i, j) -> cols=(j, i)]", {3, 5}), "buffer[(d0, d1) -> cols=(d1, d0)]");
  EXPECT_EQ(bound("buffer[(i, j) -> cols=(i, j)]", {3, 5}), "linear");
}

// A part without a modulo extends to the end of its axis, whatever the extent.
TEST(LayoutPattern, OfOtherExtents) {
  const LayoutPattern pattern =
      parse("texture[(h, c) -> rows=(h%8), cols=(h/8, c/4), lanes=c%4]", {16, 8});
  EXPECT_EQ(to_string(pattern), "texture[(h, c) -> rows=(h%8), cols=(h/8, c/4), lanes=(c%4)]");
  EXPECT_EQ(to_string(layout_for(pattern, {30, 7})),
            "texture[(d0, d1) -> rows=(d0%8), cols=(d0/8, d1/4), lanes=(d1%4)]");
  EXPECT_EQ(layout_for(pattern, {30, 7}).col_count(), 8);
  EXPECT_EQ(pattern_of(layout_for(pattern, {30, 7}), {"h", "c"}), pattern);
}

Diagnostic error_of(std::string_view text, const Shape& shape) {
  try {
    parse(text, shape);
  } catch (const UserError& error) {
    return error.diagnostics().front();
  }
  ADD_FAILURE() << text << " was accepted";
  return {};
}

TEST(LayoutPattern, ErrorsShowThePieceAndAWayOut) {
  const Diagnostic d = error_of("texture[(n, c) -> rows=n, cols=(k), lanes=c%4]", {2, 8});
  EXPECT_EQ(d.code, Code::BadLayout);
  EXPECT_EQ(d.location.line, 6);
  ASSERT_EQ(d.notes.size(), 1U);
  EXPECT_EQ("  note: " + d.notes.front(),
            "  note: texture[(n, c) -> rows=n, cols=(k), lanes=c%4]\n"
            "                                        ^");
  struct Row {
    std::string text, message;
    Shape shape = {2, 8};
  };
  const std::vector<Row> rows = {
      {"texture[(n, c) -> rows=n, cols=(k), lanes=c%4]", "there is no axis k"},
      {"texture[(n, c) -> rows=n, lanes=c%4]", "the parts of axis c leave out c/4"},
      {"texture[(n, c) -> rows=n, cols=c, lanes=c%4]", "the parts of axis c overlap: c%4 and c"},
      {"texture[(n, c) -> rows=n, cols=c/3, lanes=c%2]",
       "the parts of axis c do not follow one another: c/2 and c/3"},
      {"texture[(n, c) -> cols=c/4, lanes=c%4]", "the parts of axis n leave out n"},
      {"texture[(n, c) -> rows=n, lanes=c]", "a texel has 4 lanes, not 8"},
      {"texture[(n, c) -> rows=n, cols=c]", "a texel has 4 lanes, not 1"},
      {"buffer[(n, c) -> rows=n, cols=c]", "the layout of a buffer has rows or lanes"},
      {"texture[(n, c, h) -> rows=n, cols=c/4, lanes=c%4]",
       "the layout has 3 axes, but the shape has 2"},
      {"texture[(n, n) -> rows=n]", "n is named twice"},
      {"image[(n, c) -> rows=n]",
       "expected a layout: 'texture[...]' or 'buffer[...]', found 'image'"},
      {"texture[(n, c) -> rows=n, cols=c//4, lanes=c%4]",
       "the layout 'texture[(n, c) -> rows=n, cols=c//4, lanes=c%4]' has a '//'"},
      {"texture[(n, c) -> rows=n, cols=c/4, lanes=c%4] + 1",
       "expected the end of the layout, found '+'"},
      {"texture[(n, c) -> rows=n, cols=c/4, lanes=c%4",
       "expected ',' or ']', found the end of the "
       "text"},
      {"texture[(n, c) -> rows=n, cols=c/4, lanes=c%0]", "'0' is out of range for an extent"},
      {"texture[(n, c) -> rows=n, cols=4/c, lanes=c%4]", "expected an axis, found '4'"},
      {"", "expected a layout: 'texture[...]' or 'buffer[...]', found the end of the text"},
  };
  for (const Row& row : rows) {
    const Diagnostic found = error_of(row.text, row.shape);
    EXPECT_EQ(found.message, row.message) << row.text;
    EXPECT_EQ(found.code, Code::BadLayout) << row.text;
    EXPECT_FALSE(found.help.empty()) << row.text;
  }
}

// Any text gives either a valid layout or a diagnostic.
TEST(LayoutPattern, ChangedTexts) {
  const std::string text = "texture[(n, c, h) -> rows=(n, h%8), cols=(c/4, h/8), lanes=c%4]";
  const Shape shape = {2, 7, 20};
  std::mt19937_64 engine(3);
  const auto from = [&](size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(engine);
  };
  int accepted = 0;
  for (int i = 0; i < 5'000; ++i) {
    std::string changed = text;
    for (size_t edits = from(1, 3); edits > 0; --edits) {
      const size_t at = from(0, changed.size() - 1);
      const size_t source = from(0, text.size() - 1);  // drawn first: argument order is unspecified
      if (from(0, 1) == 0) {
        changed.replace(at, from(0, 2), 1, text[source]);
      } else {
        changed.insert(at, text.substr(source, from(1, 9)));
      }
    }
    try {
      const LayoutPattern pattern = parse(changed, shape);
      ASSERT_FALSE(find_problem(layout_for(pattern, shape), pattern.names)) << changed;
      ASSERT_EQ(parse(to_string(pattern), shape), pattern) << changed;
      ++accepted;
    } catch (const UserError& error) {
      ASSERT_EQ(error.diagnostics().front().code, Code::BadLayout) << changed;
    }
  }
  EXPECT_GT(accepted, 20);
}

}  // namespace
}  // namespace texloom::ir
