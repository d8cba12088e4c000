#include "runtime/custom/size_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/identifiers.h"

namespace texloom::runtime {
namespace {

using hal::Size;

constexpr int kMaxDepth = 64;  // the nesting of parentheses

bool is_of_name(char c) { return is_identifier_character(c) || c == '.'; }

// A parser by recursive descent.
class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string> names) : text_(text), names_(names) {}

  Result<Size> parse() {
    TL_ASSIGN_OR_RETURN(Size size, sum());
    if (!rest().empty()) return error("unexpected text");
    return size;
  }

 private:
  std::string_view rest() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return text_.substr(at_);
  }
  bool take(char c) {
    if (!rest().starts_with(c)) return false;
    ++at_;
    return true;
  }
  Status error(std::string_view what, std::string_view help = {}) const {
    return invalid_argument("\"{}\": {} at character {}{}", text_, what, at_ + 1, help);
  }

  Result<Size> sum() {
    TL_ASSIGN_OR_RETURN(Size left, product());
    while (true) {
      const bool adds = take('+');
      if (!adds && !take('-')) return left;
      TL_ASSIGN_OR_RETURN(const Size right, product());
      left = Size::of(adds ? Size::Op::Add : Size::Op::Sub, left, right);
    }
  }

  Result<Size> product() {
    TL_ASSIGN_OR_RETURN(Size left, factor());
    while (true) {
      Size::Op op = Size::Op::Mul;
      if (take('/')) {
        op = Size::Op::FloorDiv;
      } else if (take('%')) {
        op = Size::Op::FloorMod;
      } else if (!take('*')) {
        return left;
      }
      TL_ASSIGN_OR_RETURN(const Size right, factor());
      left = Size::of(op, left, right);
    }
  }

  Result<Size> factor() {
    const std::string_view text = rest();
    if (take('(')) {
      if (++depth_ > kMaxDepth) return error("too many parentheses");
      TL_ASSIGN_OR_RETURN(Size inner, sum());
      --depth_;
      if (!take(')')) return error("expected \")\"");
      return inner;
    }
    if (!text.empty() && is_digit(text.front())) return number();
    return name();
  }

  Result<Size> number() {
    std::int64_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, code] = std::from_chars(text_.data() + at_, end, value);
    if (code != std::errc()) return error("a number beyond 64 bits");
    at_ = static_cast<std::size_t>(stop - text_.data());
    return Size(value);
  }

  Result<Size> name() {
    const std::string_view text = rest();
    const auto end = std::find_if_not(text.begin(), text.end(), is_of_name);
    const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    if (name.empty()) return error("expected a number or a name");
    if (name == "min" || name == "max") return extremum(name);
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end())
      return error(fmt::format("unknown name \"{}\"", name),
                   fmt::format("; help: known are {}", fmt::join(names_, ", ")));
    at_ += name.size();
    return Size::symbol(static_cast<std::uint32_t>(found - names_.begin()));
  }

  Result<Size> extremum(std::string_view name) {
    at_ += name.size();
    if (++depth_ > kMaxDepth) return error("too many parentheses");
    if (!take('(')) return error("expected \"(\"");
    TL_ASSIGN_OR_RETURN(const Size a, sum());
    if (!take(',')) return error("expected \",\"");
    TL_ASSIGN_OR_RETURN(const Size b, sum());
    if (!take(')')) return error("expected \")\"");
    --depth_;
    return Size::of(name == "min" ? Size::Op::Min : Size::Op::Max, a, b);
  }

  std::string_view text_;
  std::span<const std::string> names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Size> parse_size(std::string_view text, std::span<const std::string> names) {
  return Parser(text, names).parse();
}

std::string size_text(const Size& size, std::span<const std::string> names) {
  struct Part {
    std::string text;
    int precedence = 2;  // outermost operator: 0 for sums, 1 for products, 2 for none
  };
  const auto within = [](const Part& part, int least) {
    return part.precedence < least ? "(" + part.text + ")" : part.text;
  };
  std::vector<Part> stack;
  for (const Size::Step& step : size.steps()) {
    if (step.op == Size::Op::Constant) {
      const bool is_negative = step.value < 0;
      stack.push_back({is_negative ? fmt::format("0 - {}", fmt::to_string(step.value).substr(1))
                                   : fmt::to_string(step.value),
                       is_negative ? 0 : 2});
      continue;
    }
    if (step.op == Size::Op::Symbol) {
      stack.push_back({names[static_cast<std::size_t>(step.value)]});
      continue;
    }
    const Part b = std::move(stack.back());
    stack.pop_back();
    Part& a = stack.back();
    if (step.op == Size::Op::Min || step.op == Size::Op::Max) {
      a = {fmt::format("{}({}, {})", step.op == Size::Op::Min ? "min" : "max", a.text, b.text)};
    } else if (step.op == Size::Op::Add || step.op == Size::Op::Sub) {
      a = {fmt::format("{} {} {}", a.text, step.op == Size::Op::Add ? "+" : "-", within(b, 1)), 0};
    } else {
      const char* sign = step.op == Size::Op::Mul ? "*" : step.op == Size::Op::FloorDiv ? "/" : "%";
      a = {fmt::format("{} {} {}", within(a, 1), sign, within(b, 2)), 1};
    }
  }
  return stack.back().text;
}

}  // namespace texloom::runtime
