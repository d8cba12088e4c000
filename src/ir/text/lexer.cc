#include "ir/text/lexer.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "support/identifiers.h"

namespace texloom::ir {
namespace {

constexpr std::string_view kLane = ".lane";
constexpr std::string_view kNanBits = "nan_";
constexpr size_t kNanDigits = 16;

// Longer words first, since a shorter word may be the beginning of a longer one.
constexpr std::array<std::string_view, 32> kPunctuation = {
    "->", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>", "(", ")", "[", "]", "{", "}", ",",
    ":",  "=",  "<",  ">",  "&",  "|",  "^",  "+",  "-",  "*", "/", "%", "!", "@", "?", "#"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  Token next() {
    skip_blank();
    if (rest_.empty()) return take(TokenKind::End, 0);
    const char c = rest_.front();
    if (is_digit(c)) return number();
    if (is_identifier_character(c)) return name();
    if (c == '"') return quoted();
    if (rest_.starts_with(kLane) && at(kLane.size()) == '[') {
      return take(TokenKind::Lane, kLane.size());
    }
    for (const std::string_view each : kPunctuation) {
      if (rest_.starts_with(each)) return take(TokenKind::Punctuation, each.size());
    }
    return take(TokenKind::Bad, 1);
  }

 private:
  char at(size_t i) const { return i < rest_.size() ? rest_[i] : '\0'; }
  size_t words(size_t i) const {
    while (is_identifier_character(at(i))) ++i;
    return i;
  }
  size_t digits(size_t i) const {
    while (is_digit(at(i))) ++i;
    return i;
  }

  Token take(TokenKind kind, size_t length) {
    const Token token{kind, rest_.substr(0, length)};
    rest_.remove_prefix(length);
    return token;
  }

  void skip_blank() {
    for (;;) {
      size_t i = 0;
      while (i < rest_.size() && is_space(rest_[i])) ++i;
      rest_.remove_prefix(i);
      if (!rest_.starts_with("//")) return;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
  }

  Token name() {
    size_t end = words(0);
    while (at(end) == '.' && is_identifier_character(at(end + 1))) {
      // Names may contain dots, but ".lane[" after a name selects a lane.
      const size_t part = words(end + 1);
      if (at(part) == '[' && rest_.substr(end, part - end) == kLane) break;
      end = part;
    }
    return take(TokenKind::Name, end);
  }

  Token number() {
    TokenKind kind = TokenKind::Integer;
    size_t end = digits(0);
    if (at(end) == '.' && is_digit(at(end + 1))) {
      kind = TokenKind::Float;
      end = digits(end + 1);
    }
    if (at(end) == 'e' || at(end) == 'E') {
      const size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
      if (is_digit(at(end + 1 + sign))) {
        kind = TokenKind::Float;
        end = digits(end + 1 + sign);
      }
    }
    if (is_identifier_character(at(end))) return take(TokenKind::Bad, words(end));
    return take(kind, end);
  }

  Token quoted() {
    size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"' && rest_[end] != '\n') {
      end += rest_[end] == '\\' ? 2 : 1;
    }
    if (at(end) != '"') return take(TokenKind::Bad, 1);
    return take(TokenKind::Quoted, end + 1);
  }

  std::string_view rest_;
};

bool is_nan_bits(std::string_view text) {
  return text.starts_with(kNanBits) && text.size() == kNanBits.size() + kNanDigits &&
         text.find_first_not_of("0123456789abcdef", kNanBits.size()) == std::string_view::npos;
}

// Whether the lexer reads the unquoted name back as the same name.
bool is_plain(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  if (name == "true" || name == "false" || name == "inf" || name == "nan" || is_nan_bits(name)) {
    return false;
  }
  // If the name ends in ".lane" and an index follows, the parser would take the index for a lane.
  if (name.ends_with(kLane)) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool dot = name[i] == '.' && i > 0 && i + 1 < name.size() && name[i + 1] != '.';
    if (!dot && !is_identifier_character(name[i])) return false;
  }
  return true;
}

}  // namespace

std::vector<Token> lex(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.next());
  } while (tokens.back().kind != TokenKind::End);
  return tokens;
}

std::string spell_name(std::string_view name) {
  return is_plain(name) ? std::string(name) : quote(name);
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::optional<std::string> unquote(std::string_view quoted) {
  std::string text;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      text += quoted[i];
      continue;
    }
    const char escape = quoted[++i];
    if (escape == '"' || escape == '\\') {
      text += escape;
    } else if (escape == 'x' && i + 3 < quoted.size()) {
      unsigned value = 0;
      const char* first = quoted.data() + i + 1;
      const auto [end, error] = std::from_chars(first, first + 2, value, 16);
      if (error != std::errc() || end != first + 2) return std::nullopt;
      text += static_cast<char>(value);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return text;
}

std::string spell_float(double value, int bits) {
  if (std::isnan(value)) {
    const auto nan = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
    const auto own = std::bit_cast<uint64_t>(value);
    return own == nan ? "nan" : fmt::format("{}{:016x}", kNanBits, own);
  }
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string digits =
      bits == 32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits;
}

namespace {

template <class Float>
std::optional<double> parse_digits(std::string_view text) {
  Float value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || last != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(value);
}

}  // namespace

std::optional<double> parse_float(std::string_view text, int bits) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (is_nan_bits(text)) {
    uint64_t pattern = 0;
    std::from_chars(text.data() + kNanBits.size(), text.data() + text.size(), pattern, 16);
    const auto value = std::bit_cast<double>(pattern);
    return std::isnan(value) ? std::optional(value) : std::nullopt;
  }
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  return bits == 32 ? parse_digits<float>(text) : parse_digits<double>(text);
}

}  // namespace texloom::ir
