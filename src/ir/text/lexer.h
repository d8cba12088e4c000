// Words of the text form (.tl), and the spelling of names and constants.
//
// White space and comments, `// to the end of the line`, may separate words. A name consists of
// letters, digits and underscores, in parts joined by dots ("blockIdx.x.1"); any other name is in
// double quotes. The only reserved words are `true`, `false`, `inf`, `nan` and words that look like
// the bits of a nan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace texloom::ir {

enum class TokenKind : uint8_t {
  Name,
  Quoted,   // a name in quotes, which is never a keyword
  Integer,  // digits
  Float,    // digits with a point or an exponent
  Punctuation,
  Lane,  // ".lane" before a bracket
  Bad,   // not the beginning of a word
  End,
};

// Points into the text that was lexed.
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
};

// All words of a text, then an End. Never fails: what is not a word becomes a Bad token.
std::vector<Token> lex(std::string_view text);

// The name in the text form: in quotes if necessary.
std::string spell_name(std::string_view name);
// Always in quotes.
std::string quote(std::string_view text);
// The inverse of quote; nullopt if an escape is invalid.
std::optional<std::string> unquote(std::string_view quoted);

// "1.5", "-0.0", "inf", "nan"; other nans as their bits, "nan_fff8000000000000". Has enough digits
// to distinguish values of `bits` bits (32, else 64).
std::string spell_float(double value, int bits);
// The value of the text of a Float, Integer or Name, as a float32 if `bits` is 32; nullopt if it is
// not a number or out of range.
std::optional<double> parse_float(std::string_view text, int bits);

}  // namespace texloom::ir
