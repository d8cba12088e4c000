// Tokens of a preprocessed program. The token pass changes a program by edits of tokens; the text
// between tokens stays, so every line keeps its number.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace softmetal {

enum class TokenKind { Identifier, Number, Text, Punctuation, Directive };

struct Token {
  TokenKind kind;
  std::string_view text;  // in the program's text
  size_t offset;
  int line;             // in the user's file
  bool of_user;         // false for tokens of headers
  std::string before;   // inserted in front of the token
  std::string after;    // inserted behind it
  std::string instead;  // replaces the token if `replaced`
  bool replaced = false;

  bool is(std::string_view s) const { return text == s && kind != TokenKind::Text; }
  bool is_identifier() const { return kind == TokenKind::Identifier; }
  void replace(std::string_view s) {
    instead = s;
    replaced = true;
  }
};

// Returns the tokens of a text with line markers, `# 3 "file"`. `file` is the user's file in these
// markers. The text must outlive the tokens.
std::vector<Token> read_tokens(std::string_view text, std::string_view file);

// Returns the text with all edits applied.
std::string write_tokens(std::string_view text, const std::vector<Token>& tokens);

}  // namespace softmetal
