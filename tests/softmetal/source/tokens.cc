#include "tests/softmetal/source/tokens.h"

#include <array>
#include <cctype>
#include <charconv>

namespace softmetal {
namespace {

bool begins_identifier(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_identifier(char c) { return begins_identifier(c) || (c >= '0' && c <= '9'); }

// Sorted by length, the longest first. `>>` is read as two tokens, because it also closes two
// template argument lists.
constexpr std::array<std::string_view, 25> kPunctuation = {
    "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", "<=", ">=", "==", "!=",
    "&&",  "||",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", ".*", "##"};

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    while (skip_blanks()) {
      const size_t begin = at_;
      const int line = line_;
      const bool of_user = of_user_;
      const TokenKind kind = next();
      tokens_.push_back(
          Token{kind, text_.substr(begin, at_ - begin), begin, line, of_user, {}, {}, {}, false});
      if (kind == TokenKind::Directive) apply_marker(tokens_.back().text);
    }
    return std::move(tokens_);
  }

 private:
  bool skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        fresh_line_ = true;
      } else if (!std::isspace(static_cast<unsigned char>(text_[at_]))) {
        return true;
      }
    }
    return false;
  }

  TokenKind next() {
    const char c = text_[at_];
    if (c == '#' && fresh_line_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return TokenKind::Directive;
    }
    fresh_line_ = false;
    if (begins_identifier(c)) {
      while (at_ < text_.size() && continues_identifier(text_[at_])) ++at_;
      if (at_ < text_.size() && text_[at_] == '"') return text();  // a prefix, such as u8
      return TokenKind::Identifier;
    }
    const bool point = c == '.' && at_ + 1 < text_.size() && std::isdigit(text_[at_ + 1]);
    if (std::isdigit(static_cast<unsigned char>(c)) || point) return number();
    if (c == '"' || c == '\'') return text();
    for (std::string_view p : kPunctuation) {
      if (text_.substr(at_, p.size()) == p) {
        at_ += p.size();
        return TokenKind::Punctuation;
      }
    }
    ++at_;
    return TokenKind::Punctuation;
  }

  TokenKind number() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_], last = at_ > 0 ? text_[at_ - 1] : ' ';
      const bool exponent =
          (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      if (!continues_identifier(c) && c != '.' && c != '\'' && !exponent) break;
    }
    return TokenKind::Number;
  }

  TokenKind text() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
    return TokenKind::Text;
  }

  // Applies a marker `# 12 "file" ...`, the origin of the next line.
  void apply_marker(std::string_view marker) {
    size_t digits = marker.find_first_not_of("# \t");
    if (marker.substr(0, 5) == "#line") digits = marker.find_first_not_of(" \t", 5);
    if (digits == std::string_view::npos || !std::isdigit(marker[digits])) return;
    int line = 0;
    std::from_chars(marker.data() + digits, marker.data() + marker.size(), line);
    line_ = line - 1;  // incremented at the end of this line
    const size_t open = marker.find('"'), close = marker.find('"', open + 1);
    if (close != std::string_view::npos) {
      of_user_ = marker.substr(open + 1, close - open - 1) == file_;
    }
  }

  std::string_view text_, file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;
  bool of_user_ = false;
};

}  // namespace

std::vector<Token> read_tokens(std::string_view text, std::string_view file) {
  return Lexer(text, file).run();
}

std::string write_tokens(std::string_view text, const std::vector<Token>& tokens) {
  std::string out;
  size_t at = 0;
  for (const Token& token : tokens) {
    out += text.substr(at, token.offset - at);
    out += token.before;
    if (token.replaced) {
      out += token.instead;
    } else {
      out += token.text;
    }
    out += token.after;
    at = token.offset + token.text.size();
  }
  out += text.substr(at);
  return out;
}

}  // namespace softmetal
