#include "tests/softmetal/source/indices.h"

#include <cctype>
#include <cstdlib>
#include <optional>

#include "tests/softmetal/source/declarations.h"

namespace softmetal {
namespace {

// Constants by their unqualified names. A name with several values maps to no value.
using Constants = std::map<std::string, std::optional<long>, std::less<>>;

// Evaluates an integer expression without casts.
class Evaluator {
 public:
  Evaluator(std::string_view text, const Constants& constants)
      : text_(text), constants_(constants) {}

  std::optional<long> run() {
    const std::optional<long> value = binary(0);
    skip_blanks();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  struct Operator {
    std::string_view text;
    int precedence;
  };
  static constexpr Operator kOperators[] = {{"<<", 3}, {"|", 1}, {"&", 2}, {"+", 4},
                                            {"-", 4},  {"*", 5}, {"/", 5}, {"%", 5}};

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(std::string_view s) {
    skip_blanks();
    if (text_.substr(at_, s.size()) != s) return false;
    at_ += s.size();
    return true;
  }

  std::optional<long> binary(int precedence) {
    std::optional<long> left = primary();
    while (left) {
      const Operator* found = nullptr;
      for (const Operator& o : kOperators) {
        if (o.precedence > precedence && take(o.text)) {
          found = &o;
          break;
        }
      }
      if (found == nullptr) return left;
      const std::optional<long> right = binary(found->precedence);
      left = right ? apply(found->text, *left, *right) : std::nullopt;
    }
    return left;
  }

  static std::optional<long> apply(std::string_view operation, long a, long b) {
    // Indices need no wider operands.
    if (std::labs(a) > INT32_MAX || std::labs(b) > INT32_MAX) return std::nullopt;
    switch (operation[0]) {
      case '<':
        return b >= 0 && b < 31 ? std::optional(a << b) : std::nullopt;
      case '|':
        return a | b;
      case '&':
        return a & b;
      case '+':
        return a + b;
      case '-':
        return a - b;
      case '*':
        return a * b;
      case '/':
        return b != 0 ? std::optional(a / b) : std::nullopt;
      default:
        return b != 0 ? std::optional(a % b) : std::nullopt;
    }
  }

  std::optional<long> primary() {
    if (take("(")) {
      const std::optional<long> value = binary(0);
      return take(")") ? value : std::nullopt;
    }
    if (take("-")) {
      const std::optional<long> value = primary();
      return value ? std::optional(-*value) : std::nullopt;
    }
    std::string word;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') break;
      word += c;
    }
    if (word.empty()) return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return number(word);
    if (take("::")) return primary();
    const auto found = constants_.find(word);
    return found != constants_.end() ? found->second : std::nullopt;
  }

  static std::optional<long> number(const std::string& word) {
    char* end = nullptr;
    const long value = std::strtol(word.c_str(), &end, 0);
    const bool suffix = std::string_view(end).find_first_not_of("uUlL") == std::string_view::npos;
    return suffix ? std::optional(value) : std::nullopt;
  }

  std::string_view text_;
  const Constants& constants_;
  size_t at_ = 0;
};

void define(Constants& constants, std::string_view name, std::optional<long> value) {
  const auto [at, fresh] = constants.emplace(name, value);
  if (!fresh && at->second != value) at->second.reset();
}

void collect_enumerators(const Code& code, size_t i, Constants& constants) {
  while (i < code.size() && !code.is(i, "{") && !code.is(i, ";") && !code.is(i, ")")) ++i;
  if (!code.is(i, "{")) return;
  std::optional<long> next = 0;
  for (const auto& [begin, end] : split_at_commas(code, i + 1, code.closing(i))) {
    if (code.is(begin + 1, "=")) next = Evaluator(code.text(begin + 2, end), constants).run();
    define(constants, code[begin].text, next);
    if (next) ++*next;
  }
}

// Records `constant int kInput = 3;`, whose `=` is at i.
void collect_constant(const Code& code, size_t i, Constants& constants) {
  if (i < 3 || !code.is_identifier(i - 1)) return;
  static const std::set<std::string, std::less<>> kIntegers = {
      "int",     "uint",     "short",   "ushort",   "char",     "uchar",   "long",
      "ulong",   "int8_t",   "uint8_t", "int16_t",  "uint16_t", "int32_t", "uint32_t",
      "int64_t", "uint64_t", "size_t",  "unsigned", "auto"};
  bool constant = false, integer = false;
  for (size_t k = i - 1; k-- > 0 && code.is_identifier(k);) {
    integer |= kIntegers.count(code[k].text) != 0;
    constant |= code.is(k, "constant") || code.is(k, "const") || code.is(k, "constexpr");
  }
  if (!integer || !constant) return;
  size_t end = i;
  while (end < code.size() && !code.is(end, ";") && !code.is(end, ",") && !code.is(end, ")")) {
    end = code.is(end, "(") ? code.closing(end) + 1 : end + 1;
  }
  define(constants, code[i - 1].text, Evaluator(code.text(i + 1, end), constants).run());
}

bool takes_index(std::string_view attribute) {
  return attribute == "buffer" || attribute == "texture" || attribute == "sampler" ||
         attribute == "threadgroup" || attribute == "id" || attribute == "function_constant";
}

}  // namespace

void evaluate_indices(Code& code) {
  Constants constants;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code.is(i, "enum")) collect_enumerators(code, i, constants);
    if (code.is(i, "=")) collect_constant(code, i, constants);
  }
  for (auto& [place, group] : code.attributes()) {
    for (Attribute& a : group) {
      if (!takes_index(a.name)) continue;
      const std::optional<long> value = Evaluator(a.argument, constants).run();
      if (value && *value >= 0) a.argument = std::to_string(*value);
    }
  }
}

}  // namespace softmetal
