// Words of the text form (.tl), and how names and constants are spelt in it.
//
// Between words there may be white space and comments, `// to the end of the line`. A name is
// letters, digits and underscores, in parts with dots between ("blockIdx.x.1"); any other name
// stands in double quotes. No word is reserved but `true`, `false`, `inf`, `nan` and what looks
// like a nan's bits.
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
  Bad,   // begins no word
  End,
};

// Points into the text that was lexed.
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
};

// All words of a text, the last one an End. Never fails: what is no word is Bad.
std::vector<Token> lex(std::string_view text);

// The name as the text form has it: in quotes, where it must be.
std::string spell_name(std::string_view name);
// In quotes, always.
std::string quote(std::string_view text);
// The inverse of quote; nothing where an escape is none.
std::optional<std::string> unquote(std::string_view quoted);

// "1.5", "-0.0", "inf", "nan"; other nans as their bits, "nan_fff8000000000000". With the digits
// that tell apart values of `bits` bits (32, else 64).
std::string spell_float(double value, int bits);
// The value of a Float's, Integer's or Name's text, of a float32 when `bits` is 32; nothing when
// it is no number or out of range.
std::optional<double> parse_float(std::string_view text, int bits);

}  // namespace texloom::ir
