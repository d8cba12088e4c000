// Reads the words of a text one after the other, and reports errors in them, for the parser of the
// text form (ir/text/parse.h).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/buffer.h"
#include "ir/tensor.h"
#include "ir/text/lexer.h"
#include "ir/type.h"
#include "support/diagnostic.h"

namespace texloom::ir {

// The largest text in bytes; larger texts are refused.
inline constexpr size_t kMaxTextSize = size_t{1} << 24;

// A name with its place in the text.
struct NamedToken {
  Token token;
  std::string name;  // without quotes and escapes
};

// The caller owns the text, which must outlive the reader. Every failure is a UserError that shows
// the line and a caret: SyntaxError for an unexpected word, BadText for words that do not fit
// together.
class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file);

  const Token& peek(size_t ahead = 0) const;
  Token next();

  bool at(std::string_view punctuation, size_t ahead = 0) const;
  // Whether the word `ahead` of the current one is an unquoted name: any name, or this keyword.
  bool at_name(size_t ahead = 0) const;
  bool at_word(std::string_view word, size_t ahead = 0) const;
  bool accept(std::string_view punctuation);
  bool accept_word(std::string_view word);
  Token expect(std::string_view punctuation);
  Token expect_word(std::string_view word);

  // `what` completes "expected ...": "the name of a buffer".
  NamedToken name(std::string_view what);
  int64_t integer(std::string_view what, int64_t min, int64_t max);
  Type type();
  // Takes "read", "write" or "read_write", if this is the next word.
  std::optional<Access> accept_access();
  // "blockIdx.x"
  ThreadTag thread_tag();

  // The line of the token, as the location of a node.
  SourceLocation line_of(const Token& token) const;
  // Takes ` @"file":line` or ` @?`, if this comes next; else returns `otherwise`.
  SourceLocation location(SourceLocation otherwise);

  [[noreturn]] void fail_expected(std::string_view expected) const;
  [[noreturn]] void fail_at(const Token& token, Code code, std::string message,
                            std::string help) const;
  template <class... Args>
  [[noreturn]] void wrong(const Token& token, std::string help, fmt::format_string<Args...> format,
                          Args&&... args) const {
    fail_at(token, Code::BadText, fmt::format(format, std::forward<Args>(args)...),
            std::move(help));
  }
  // The text of a line if it is in this text; else empty.
  std::string line_text(const SourceLocation& location) const;

 private:
  std::string line_text(int line) const;
  int line_number(const Token& token) const;

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  std::vector<size_t> line_starts_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
};

}  // namespace texloom::ir
