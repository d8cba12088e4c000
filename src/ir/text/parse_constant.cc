// The constants of the text form: numbers.
#include <charconv>
#include <limits>
#include <optional>

#include "ir/text/parse_expr.h"

namespace texloom::ir {
namespace {

// "inf" and "nan" are numbers too.
bool is_float_word(std::string_view text) { return parse_float(text, 64).has_value(); }

}  // namespace

bool ExprParser::at_number(size_t ahead) const {
  const Token& token = reader_.peek(ahead);
  return token.kind == TokenKind::Integer || token.kind == TokenKind::Float ||
         (token.kind == TokenKind::Name && is_float_word(token.text));
}

Expr ExprParser::literal(Type integers, Type floats) {
  const bool negative = reader_.accept("-");
  if (!at_number()) reader_.fail_expected("a number");
  const Token digits = reader_.next();
  if (digits.kind == TokenKind::Integer) return integer_constant(digits, negative, integers);
  const std::optional<double> value = parse_float(digits.text, floats.bits);
  if (!value) {
    reader_.wrong(digits, "write a number that the type holds", "{} is out of range for {}",
                  digits.text, to_string(floats));
  }
  return make_float(negative ? -*value : *value, floats);
}

Expr ExprParser::integer_constant(const Token& digits, bool negative, Type type) {
  uint64_t magnitude = 0;
  const std::string_view text = digits.text;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), magnitude).ec;
  const bool fits_word = error == std::errc();
  const int value_bits = type.is_int() ? type.bits - 1 : type.bits;
  uint64_t largest = std::numeric_limits<uint64_t>::max() >> (64 - value_bits);
  if (negative) largest = type.is_int() ? largest + 1 : 0;
  if (!fits_word || magnitude > largest) {
    reader_.wrong(digits, "write it with a wider type, such as int64(5)", "{}{} does not fit {}",
                  negative ? "-" : "", digits.text, to_string(type));
  }
  return make_int(static_cast<int64_t>(negative ? 0 - magnitude : magnitude), type);
}

}  // namespace texloom::ir
