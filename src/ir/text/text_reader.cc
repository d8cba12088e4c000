#include "ir/text/text_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace texloom::ir {
namespace {

constexpr std::string_view kGrammar = "docs/text_form.md has the grammar";

std::string described(const Token& token) {
  constexpr size_t kShown = 40;
  if (token.kind == TokenKind::End) return "the end of the text";
  if (token.kind == TokenKind::Bad && token.text == "\"") return "a quote that is not closed";
  const auto byte = static_cast<unsigned char>(token.text.front());
  if (token.kind == TokenKind::Bad && (byte < 0x20 || byte >= 0x7f)) {
    return fmt::format("the byte 0x{:02x}", byte);
  }
  if (token.text.size() > kShown) return fmt::format("'{}...'", token.text.substr(0, kShown));
  return fmt::format("'{}'", token.text);
}

}  // namespace

TextReader::TextReader(std::string_view text, std::string_view file)
    : text_(text), file_(std::make_shared<const std::string>(file)), line_starts_{0} {
  if (text.size() > kMaxTextSize) {
    fail({file_, 1, 0}, Code::SyntaxError, "lower a smaller program",
         "the text has {} bytes, more than {}", text.size(), kMaxTextSize);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
  tokens_ = lex(text);
  // If words are missing at the end of the text, the error is shown after the last word.
  if (tokens_.size() > 1) {
    const std::string_view last = tokens_[tokens_.size() - 2].text;
    tokens_.back().text = {last.data() + last.size(), 0};
  }
}

const Token& TextReader::peek(size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}
Token TextReader::next() {
  const Token token = peek();
  position_ = std::min(position_ + 1, tokens_.size() - 1);
  return token;
}

bool TextReader::at(std::string_view punctuation, size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == TokenKind::Punctuation && token.text == punctuation;
}
bool TextReader::at_name(size_t ahead) const { return peek(ahead).kind == TokenKind::Name; }
bool TextReader::at_word(std::string_view word, size_t ahead) const {
  return at_name(ahead) && peek(ahead).text == word;
}
bool TextReader::accept(std::string_view punctuation) {
  if (!at(punctuation)) return false;
  next();
  return true;
}
bool TextReader::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  next();
  return true;
}
Token TextReader::expect(std::string_view punctuation) {
  if (!at(punctuation)) fail_expected(fmt::format("'{}'", punctuation));
  return next();
}
Token TextReader::expect_word(std::string_view word) {
  if (!at_word(word)) fail_expected(fmt::format("'{}'", word));
  return next();
}

NamedToken TextReader::name(std::string_view what) {
  if (at_name()) {
    const Token token = next();
    return {token, std::string(token.text)};
  }
  if (peek().kind != TokenKind::Quoted) fail_expected(what);
  const Token token = next();
  std::optional<std::string> text = unquote(token.text);
  if (!text) {
    fail_at(token, Code::SyntaxError,
            "an escape in a quoted name is not one of \\\", \\\\ and \\x41", std::string(kGrammar));
  }
  return {token, *std::move(text)};
}

int64_t TextReader::integer(std::string_view what, int64_t min, int64_t max) {
  if (peek().kind != TokenKind::Integer) fail_expected(what);
  const Token token = next();
  int64_t value = 0;
  const std::string_view text = token.text;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && last == text.data() + text.size();
  if (!whole || value < min || value > max) {
    wrong(token, fmt::format("write a number from {} to {}", min, max), "{} is out of range for {}",
          described(token), what);
  }
  return value;
}

Type TextReader::type() {
  const std::optional<Type> type = at_name() ? parse_type(peek().text) : std::nullopt;
  if (!type) fail_expected("a type");
  next();
  return *type;
}

std::optional<Access> TextReader::accept_access() {
  for (const Access access : {Access::Read, Access::Write, Access::ReadWrite}) {
    if (accept_word(to_string(access))) return access;
  }
  return std::nullopt;
}

ThreadTag TextReader::thread_tag() {
  const std::optional<ThreadTag> tag = at_name() ? parse_thread_tag(peek().text) : std::nullopt;
  if (!tag) fail_expected("a thread index such as 'blockIdx.x'");
  next();
  return *tag;
}

int TextReader::line_number(const Token& token) const {
  const auto offset = static_cast<size_t>(token.text.data() - text_.data());
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<int>(after - line_starts_.begin());
}

std::string TextReader::line_text(const SourceLocation& location) const {
  return location.file == file_ ? line_text(location.line) : std::string();
}

std::string TextReader::line_text(int line) const {
  const size_t begin = line_starts_[static_cast<size_t>(line) - 1];
  const std::string_view rest = text_.substr(begin);
  return std::string(rest.substr(0, rest.find_first_of("\r\n")));
}

SourceLocation TextReader::line_of(const Token& token) const {
  return {file_, line_number(token), 0};
}

SourceLocation TextReader::location(SourceLocation otherwise) {
  if (!accept("@")) return otherwise;
  if (accept("?")) return {};
  if (peek().kind != TokenKind::Quoted) fail_expected("a file in quotes or '?'");
  const NamedToken file = name("a file in quotes");
  expect(":");
  const int64_t line = integer("a line", 0, std::numeric_limits<int>::max());
  return SourceLocation::make(file.name, static_cast<int>(line));
}

void TextReader::fail_expected(std::string_view expected) const {
  fail_at(peek(), Code::SyntaxError,
          fmt::format("expected {}, found {}", expected, described(peek())), std::string(kGrammar));
}

void TextReader::fail_at(const Token& token, Code code, std::string message,
                         std::string help) const {
  const int line = line_number(token);
  const auto offset = static_cast<size_t>(token.text.data() - text_.data());
  const size_t column = offset - line_starts_[static_cast<size_t>(line) - 1] + 1;
  Diagnostic diagnostic{
      Severity::Error, code, {file_, line, static_cast<int>(column)}, std::move(message),
      std::move(help), {}};
  diagnostic.line_text = line_text(line);
  fail_with(std::move(diagnostic));
}

}  // namespace texloom::ir
